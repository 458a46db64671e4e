"""HOW do papers come back? Each to its own name and place, if nothing else is there, and within the quotas."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from onrecord.care.kinds import kind_for
from onrecord.care.lines import Line
from onrecord.errors import Conflict
from onrecord.model.answers import ShownAgent
from onrecord.model.limits import CONVERSATION_BYTES, TENANT_BYTES
from onrecord.model.papers import Conversation, KeptFile, Notes, PaperNumbers
from onrecord.store.papers import Paper, PaperRestoring


@dataclass(slots=True)
class Tray:
    """Papers that were read and are not yet written, each with the place of its line."""

    numbers: PaperNumbers = field(default_factory=PaperNumbers)
    papers: list[tuple[Line, Paper]] = field(default_factory=list)
    #: What they hold in memory, as far as it counts.
    bytes: int = 0

    def put(self, paper: Paper, line: Line) -> None:
        self.papers.append((line.without_value, paper))
        if isinstance(paper, KeptFile):
            self.bytes += len(paper.content)
        elif isinstance(paper, Notes):
            self.bytes += sum(len(note.text) for note in paper.notes)


@dataclass(slots=True)
class TakenIn:
    """What became of the papers of a tray: how many are new, by the field that counts them, and which differ."""

    added: Counter[str] = field(default_factory=Counter)
    unchanged: int = 0
    differing: list[str] = field(default_factory=list)

    def add(self, more: "TakenIn") -> None:
        self.added += more.added
        self.unchanged += more.unchanged
        self.differing += more.differing


def take_in_papers(restoring: PaperRestoring, tray: Tray, was_left: Callable[[str], bool]) -> TakenIn:
    """Add what is absent. A file of a conversation that was left alone is left alone too: that one is another's."""
    done, grown = TakenIn(), set[str]()
    restoring.count(tray.numbers)
    for line, paper in tray.papers:
        name, home = name_of(paper), None
        if isinstance(paper, KeptFile):
            home = paper.artifact.conversation
            left = f"conversation {home}"
            if was_left(left) or left in done.differing:
                done.differing.append(name)
                continue
        match restoring.standing(paper):
            case "same":
                done.unchanged += 1
            case "different":
                done.differing.append(name)
            case "absent":
                if not restoring.restore(paper):
                    raise line.fault(
                        f"is a file of conversation {home}, which is not here and in no line before"
                    )
                done.added[kind_for(paper).counted_as or ""] += 1
                grown |= set() if home is None else {home}
    _check_quotas(restoring, grown)
    return done


def name_of(paper: Paper) -> str:
    """What a person calls a paper. No memory is called so, since its id has no spaces."""
    match paper:
        case Conversation():
            return f"conversation {paper.id}"
        case KeptFile():
            return file_name(paper.artifact.id)
        case Notes():
            return f"notes of {paper.agent}"
        case ShownAgent():
            return f"settings of {paper.agent}"


def file_name(id: str) -> str:
    return f"file {id}"


def _check_quotas(restoring: PaperRestoring, grown: set[str]) -> None:
    """Once for all files of a batch, since to add up the sizes takes longer the more there are."""
    if not grown:
        return
    for whose, held, most in (
        *(
            (f"conversation {each}", restoring.usage(each).bytes, CONVERSATION_BYTES)
            for each in sorted(grown)
        ),
        ("this tenant", restoring.usage().bytes, TENANT_BYTES),
    ):
        if held > most:
            raise Conflict(
                f"No room: with those of the export, the files of {whose} would take {held} of {most} bytes. "
                "Delete some first, or import into an empty tenant."
            )
