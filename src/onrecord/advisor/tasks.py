"""WHAT is an advisor asked, and which part of its reply counts? Each task has a prompt, a shape and a check of its own.

Models reply with JSON, with JSON inside prose, or with prose. Whatever the form, only what was asked for is taken: known ids,
each once, and short plain lines.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import islice, pairwise
from typing import Any, Final, NamedTuple

from onrecord.model.advice import TASKS, VERDICTS, AdviceInput, Task, Verdict
from onrecord.model.unseen import is_unseen
from onrecord.providers.advising import NoAdvice
from onrecord.providers.scrubber import scrub
from onrecord.text import document_words, question_terms

#: How many paraphrases, tags and facts are taken at most, and how long each may be.
PARAPHRASES: Final = 2
TAGS: Final = 4
FACTS: Final = 6
_PARAPHRASE_CHARACTERS: Final = 200
_FACT_CHARACTERS: Final = 500
_WHY_CHARACTERS: Final = 300
#: If a model wants to end more of the nearest than this at once, it has not read them.
MOST_CONTRADICTED: Final = 3
#: The share of a fact's words that the turn must hold: a fact in other words has most of them, an invented one few.
_GROUNDED: Final = 0.5
_VERSION: Final = re.compile(r"version: (\d+)\n+")
_TAG: Final = re.compile(r"\w[\w .+/-]{0,38}\w")
_TAG_WORDS: Final = 3
#: What makes a word an address: a scheme, a host with a path, or a mailbox.
_ADDRESS: Final = re.compile(r"\w://|www\.|@[^@]+\.\w|\w\.[a-z]{2,}/", re.IGNORECASE)
_AROUND_WORDS: Final = ".,;:!?()\"'"
#: What may stand between two ids of an order in prose, unless each begins a line.
_BETWEEN_IDS: Final = re.compile(r"(?:\W|\b(?:then|and|or|next|finally|followed by)\b)*", re.IGNORECASE)
_BEGINS_LINE: Final = r"^[^\w\n]*"
#: A reply of so few words that names one id means it.
_WORDS_ABOUT_ONE: Final = 2
#: How much of a reply is read, and at how many brackets a JSON value is looked for: each look may go to its end.
_READ_CHARACTERS: Final = 50_000
_OPENINGS: Final = 50
#: How the mark begins that stands where a secret was.
_SECRET: Final = "[secret:"
#: The marks of a block of code around a whole reply.
_CODE: Final = re.compile(r"\A\s*```\w*\s|```\s*\Z")
_MARKED: Final = re.compile(r"[<>\[\]{}|`]")
#: Words that turns use of the one who speaks and facts do not, or the reverse.
_OF_THE_SPEAKER: Final = frozenset({"user", "they", "their", "assistant"})


class ModelReply(NamedTuple):
    """What a model replied: the arguments of a tool call, or a text."""

    text: str
    arguments: Mapping[str, Any] | None = None

    def value(self, name: str) -> Any:
        """The first JSON object in it with a field of this name, or else the first JSON value, or None."""
        if self.arguments is not None:
            return self.arguments
        values = list(self._values())
        named = (each for each in values if isinstance(each, Mapping) and name in each)
        return next(named, values[0] if values else None)

    def is_bare(self) -> bool:
        """Whether it is JSON and nothing else, perhaps marked as code."""
        if self.arguments is not None:
            return True
        with suppress(ValueError, RecursionError):
            json.loads(_CODE.sub("", self.text[:_READ_CHARACTERS]))
            return True
        return False

    def _values(self) -> Iterator[Any]:
        decoder = json.JSONDecoder()
        text = self.text[:_READ_CHARACTERS]
        for found in islice(re.finditer(r"[\[{]", text), _OPENINGS):
            with suppress(ValueError, RecursionError):
                yield decoder.raw_decode(text, found.start())[0]


@dataclass(frozen=True, slots=True)
class AcceptedAdvice:
    """The part of a reply that counts."""

    said: tuple[str, ...] = ()
    verdict: Verdict | None = None
    why: str | None = None


class TaskPrompt(NamedTuple):
    """The instructions of a task, and their version, which is stored with what they made."""

    name: str
    text: str


@cache
def prompt_of(task: Task) -> TaskPrompt:
    text = (files("onrecord.advisor") / "prompts" / f"{task}.md").read_text(encoding="utf-8")
    version = _VERSION.match(text)
    assert version is not None, f"{task}.md begins with its version"
    return TaskPrompt(f"{task}/{version[1]}", text[version.end() :].strip())


def read_reply(task: Task, reply: ModelReply, sent: AdviceInput) -> AcceptedAdvice:
    """The part of a reply that counts; NoAdvice if there is none."""
    return _READERS[task](reply, sent)


def _expansion(reply: ModelReply, sent: AdviceInput) -> AcceptedAdvice:
    asked = dict(sent.texts)["question"]
    known = {_folded(asked)}
    kept = []
    for text in _texts(reply, "queries"):
        if _is_plain(text, _PARAPHRASE_CHARACTERS, asked) and _folded(text) not in known:
            known.add(_folded(text))
            kept.append(text)
    if not kept:
        raise NoAdvice("its reply contains no other wording of the question.")
    return AcceptedAdvice(tuple(kept[:PARAPHRASES]))


def _order(reply: ModelReply, sent: AdviceInput) -> AcceptedAdvice:
    ids = _ids(reply, sent)
    if not ids:
        raise NoAdvice("its reply names none of the candidates.")
    return AcceptedAdvice(ids)


def _tags(reply: ModelReply, sent: AdviceInput) -> AcceptedAdvice:
    has = {_folded(tag) for tag in dict(sent.texts).get("tags", "").split(",")}
    said = "\n".join(_all_texts(sent))
    kept: dict[str, str] = {}
    for text in _texts(reply, "tags"):
        tag = text.lstrip("#").strip()
        is_tag = _TAG.fullmatch(tag) and len(tag.split()) <= _TAG_WORDS and not _invented_addresses(tag, said)
        if is_tag and _folded(tag) not in has and not scrub(tag).found:
            kept.setdefault(_folded(tag), tag.lower())
    return AcceptedAdvice(tuple(kept.values())[:TAGS])


def _contradicted(reply: ModelReply, sent: AdviceInput) -> AcceptedAdvice:
    value = reply.value("ids")
    # "[3] is no contradiction": prose that names an id does not end it.
    if _listed(value, "ids") is None or not (isinstance(value, Mapping) or reply.is_bare()):
        raise NoAdvice("its reply cannot be read.")
    ids = _ids(reply, sent)
    if len(ids) > MOST_CONTRADICTED:
        raise NoAdvice(
            f"it would supersede {len(ids)} of {len(sent.candidates)} memories at once, so none was superseded."
        )
    new = _words("\n".join(text for _, text in sent.texts))
    held = {each.id: _words(f"{each.title}\n{each.text}") for each in sent.candidates}
    return AcceptedAdvice(tuple(id for id in ids if new & held[id]))


def _facts(reply: ModelReply, sent: AdviceInput) -> AcceptedAdvice:
    spoken = "\n".join(text for _, text in sent.texts)
    words, known = _words(spoken), set[str]()
    kept = []
    for text in _texts(reply, "facts"):
        # Neither a secret, nor the mark in the place of one.
        is_clean = _SECRET not in text and not scrub(text).found
        # Small words do not show where it comes from.
        about = {token.term for token in question_terms(text)} - _OF_THE_SPEAKER
        is_said = bool(about) and len(about & words) >= _GROUNDED * len(about)
        is_fact = is_clean and is_said and _is_plain(text, _FACT_CHARACTERS, spoken)
        if is_fact and _folded(text) not in known:
            known.add(_folded(text))
            kept.append(text)
    return AcceptedAdvice(tuple(kept[:FACTS]))


def _judgement(reply: ModelReply, sent: AdviceInput) -> AcceptedAdvice:
    value = reply.value("verdict")
    verdict = value.get("verdict") if isinstance(value, Mapping) else None
    if verdict not in VERDICTS:
        raise NoAdvice(f"its reply is none of {', '.join(VERDICTS)}.")
    ids = _ids(ModelReply("", {"ids": value.get("ids")}), sent)
    if verdict != "new" and not ids:
        raise NoAdvice(f"it says {verdict} and names none of the notes that it was given.")
    why = value.get("why")
    plain = " ".join(why.split()) if isinstance(why, str) else ""
    is_plain = _is_plain(plain, _WHY_CHARACTERS, "\n".join(_all_texts(sent)))
    return AcceptedAdvice(() if verdict == "new" else ids, verdict, scrub(plain).text if is_plain else None)


def _all_texts(sent: AdviceInput) -> Iterator[str]:
    for _, text in sent.texts:
        yield text
    for each in sent.candidates:
        yield f"{each.title}\n{each.text}"


def _ids(reply: ModelReply, sent: AdviceInput) -> tuple[str, ...]:
    """The known ids of a reply in its order, each once; from its prose where it holds no list."""
    known = {each.id for each in sent.candidates}
    named = _listed(reply.value("ids"), "ids")
    if named is None:
        if reply.arguments is not None or not known:
            return ()
        named = _named_in_prose(reply.text[:_READ_CHARACTERS], known)
    ids = (str(each).strip().removeprefix("#") for each in named if isinstance(each, str | int))
    return tuple(dict.fromkeys(id for id in ids if id in known))


def _named_in_prose(text: str, known: Set[str]) -> list[str]:
    """The ids in a reply without JSON: those with a mark, if any has one. Otherwise numbers may be other numbers ("I cannot
    rank these 25"), so two must stand in a row, or one almost alone.
    """
    either = "|".join(re.escape(id) for id in sorted(known, key=len, reverse=True))
    if marked := re.findall(rf"(?<!\w)#({either})(?![\w:-])", text):
        return marked
    found = list(re.finditer(rf"(?<![\w:-])(?:{either})(?![\w:-])", text))
    in_a_row = any(_BETWEEN_IDS.fullmatch(text, one.end(), other.start()) for one, other in pairwise(found))
    in_lines = len(re.findall(rf"{_BEGINS_LINE}(?:{either})(?![\w:-])", text, re.MULTILINE)) > 1
    is_order = in_a_row or in_lines or len(text.split()) <= _WORDS_ABOUT_ONE
    return [each[0] for each in found] if is_order else []


def _texts(reply: ModelReply, name: str) -> list[str]:
    """The texts of a list, each on one line; NoAdvice if there is no list."""
    listed = _listed(reply.value(name), name)
    if listed is None:
        raise NoAdvice("its reply cannot be read.")
    return [" ".join(each.split()) for each in listed if isinstance(each, str) and each.strip()]


def _listed(value: Any, name: str) -> list[Any] | None:
    """The list of a reply: itself, or under its name."""
    listed = value.get(name) if isinstance(value, Mapping) else value
    return listed if isinstance(listed, list) else None


def _is_plain(text: str, most: int, asked: str) -> bool:
    """Whether a line is words alone: no marks of a frame or of markup, nothing invisible, and no address that was not
    asked about.
    """
    if not text or len(text) > most or any(is_unseen(text, at) for at in range(len(text))):
        return False
    return not _invented_addresses(text, asked) and all(mark in asked for mark in _MARKED.findall(text))


def _invented_addresses(text: str, asked: str) -> list[str]:
    """The addresses in a text that are not in what was asked about."""
    said = asked.casefold()
    words = (word.strip(_AROUND_WORDS).casefold() for word in text.split() if _ADDRESS.search(word))
    return [word for word in words if word not in said]


def _words(text: str) -> set[str]:
    return {terms[0] for terms in document_words(text) if terms}


def _folded(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .?!")


_READERS: Final[Mapping[Task, Callable[[ModelReply, AdviceInput], AcceptedAdvice]]] = {
    "expand": _expansion,
    "rerank": _order,
    "rerank_fine": _order,
    "tag": _tags,
    "supersede": _contradicted,
    "extract": _facts,
    "judge": _judgement,
}


def _list_of_texts(name: str, most: int) -> dict[str, Any]:
    listed = {"type": "array", "items": {"type": "string"}, "maxItems": most}
    return {"type": "object", "properties": {name: listed}, "required": [name]}


_IDS: Final = _list_of_texts("ids", 50)
#: The JSON that a reply should be.
SHAPES: Final[Mapping[Task, dict[str, Any]]] = {
    "expand": _list_of_texts("queries", PARAPHRASES),
    "rerank": _IDS,
    "rerank_fine": _IDS,
    "tag": _list_of_texts("tags", TAGS),
    "supersede": _list_of_texts("ids", 5),
    "extract": _list_of_texts("facts", FACTS),
    "judge": {
        "type": "object",
        "properties": {
            "verdict": {"type": "string", "enum": list(VERDICTS)},
            "ids": _IDS["properties"]["ids"],
            "why": {"type": "string"},
        },
        "required": ["verdict", "ids", "why"],
    },
}
#: How many tokens a reply may take.
REPLY_TOKENS: Final[Mapping[Task, int]] = dict.fromkeys(TASKS, 400) | {"rerank": 800}
