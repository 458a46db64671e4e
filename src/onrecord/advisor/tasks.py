"""WHAT is an advisor asked, and which part of its reply counts? Each task has a prompt, a shape and a check of its own.

Models reply with JSON, with JSON inside prose, or with prose. Whatever the form, only what was asked for is taken: known ids,
each once, and short plain lines.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
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
_ADDRESS: Final = re.compile(r"\w+://|www\.|\S@\S+\.\w")
_MARKED: Final = re.compile(r"[<>\[\]{}|`]")
#: Words that turns use of the one who speaks and facts do not, or the reverse.
_OF_THE_SPEAKER: Final = frozenset({"user", "they", "their", "assistant"})


class Reply(NamedTuple):
    """What a model replied: the arguments of a tool call, or a text."""

    text: str
    arguments: Mapping[str, Any] | None = None

    def value(self) -> Any:
        """The first JSON value in it, or None."""
        if self.arguments is not None:
            return self.arguments
        decoder = json.JSONDecoder()
        for found in re.finditer(r"[\[{]", self.text):
            try:
                return decoder.raw_decode(self.text, found.start())[0]
            except (ValueError, RecursionError):
                continue
        return None


@dataclass(frozen=True, slots=True)
class Taken:
    """The part of a reply that counts."""

    said: tuple[str, ...] = ()
    verdict: Verdict | None = None
    why: str | None = None


class Prompt(NamedTuple):
    """The instructions of a task, and their version, which is stored with what they made."""

    name: str
    text: str


@cache
def prompt_of(task: Task) -> Prompt:
    told = (files("onrecord.advisor") / "prompts" / f"{task}.md").read_text(encoding="utf-8")
    version = _VERSION.match(told)
    assert version is not None, f"{task}.md begins with its version"
    return Prompt(f"{task}/{version[1]}", told[version.end() :].strip())


def read_reply(task: Task, reply: Reply, sent: AdviceInput) -> Taken:
    """The part of a reply that counts; NoAdvice if there is none."""
    return _READERS[task](reply, sent)


def _expansion(reply: Reply, sent: AdviceInput) -> Taken:
    asked = dict(sent.texts)["question"]
    known = {_folded(asked)}
    kept = []
    for text in _texts(reply, "queries"):
        if _is_plain(text, _PARAPHRASE_CHARACTERS, asked) and _folded(text) not in known:
            known.add(_folded(text))
            kept.append(text)
    if not kept:
        raise NoAdvice("its reply holds no other way to ask this.")
    return Taken(tuple(kept[:PARAPHRASES]))


def _order(reply: Reply, sent: AdviceInput) -> Taken:
    ids = _ids(reply, sent)
    if not ids:
        raise NoAdvice("its reply names none of the candidates.")
    return Taken(ids)


def _tags(reply: Reply, sent: AdviceInput) -> Taken:
    has = {_folded(tag) for tag in dict(sent.texts).get("tags", "").split(",")}
    kept: dict[str, str] = {}
    for text in _texts(reply, "tags"):
        tag = text.lstrip("#").strip()
        if _TAG.fullmatch(tag) and _folded(tag) not in has and not scrub(tag).found:
            kept.setdefault(_folded(tag), tag.lower())
    return Taken(tuple(kept.values())[:TAGS])


def _contradicted(reply: Reply, sent: AdviceInput) -> Taken:
    if reply.value() is None:
        raise NoAdvice("its reply cannot be read.")
    ids = _ids(reply, sent)
    if len(ids) > MOST_CONTRADICTED:
        raise NoAdvice(f"it would end {len(ids)} of {len(sent.candidates)} at once, so nothing is ended.")
    new = _words("\n".join(text for _, text in sent.texts))
    held = {each.id: _words(f"{each.title}\n{each.text}") for each in sent.candidates}
    return Taken(tuple(id for id in ids if new & held[id]))


def _facts(reply: Reply, sent: AdviceInput) -> Taken:
    spoken = "\n".join(text for _, text in sent.texts)
    words, known = _words(spoken), set[str]()
    kept = []
    for text in _texts(reply, "facts"):
        fact = scrub(text).text
        # Small words do not show where it comes from.
        about = {token.term for token in question_terms(fact)} - _OF_THE_SPEAKER
        is_said = bool(about) and len(about & words) >= _GROUNDED * len(about)
        if _is_plain(fact, _FACT_CHARACTERS, spoken) and is_said and _folded(fact) not in known:
            known.add(_folded(fact))
            kept.append(fact)
    return Taken(tuple(kept[:FACTS]))


def _judgement(reply: Reply, sent: AdviceInput) -> Taken:
    value = reply.value()
    verdict = value.get("verdict") if isinstance(value, Mapping) else None
    if verdict not in VERDICTS:
        raise NoAdvice(f"its reply is none of {', '.join(VERDICTS)}.")
    ids = _ids(Reply("", {"ids": value.get("ids")}), sent)
    if verdict != "new" and not ids:
        raise NoAdvice(f"it says {verdict} and names none of the notes that it was given.")
    why = value.get("why")
    plain = " ".join(why.split()) if isinstance(why, str) else ""
    is_told = _is_plain(plain, _WHY_CHARACTERS, "\n".join(_all_texts(sent)))
    return Taken(() if verdict == "new" else ids, verdict, scrub(plain).text if is_told else None)


def _all_texts(sent: AdviceInput) -> Iterator[str]:
    for _, text in sent.texts:
        yield text
    for each in sent.candidates:
        yield f"{each.title}\n{each.text}"


def _ids(reply: Reply, sent: AdviceInput) -> tuple[str, ...]:
    """The known ids of a reply in its order, each once; from its prose where it holds no list."""
    known = {each.id for each in sent.candidates}
    named = _listed(reply.value(), "ids")
    if named is None:
        if reply.arguments is not None or not known:
            return ()
        either = "|".join(re.escape(id) for id in sorted(known, key=len, reverse=True))
        named = re.findall(rf"(?<![\w:-])(?:{either})(?![\w:-])", reply.text)
    told = (str(each).strip().removeprefix("#") for each in named if isinstance(each, str | int))
    return tuple(dict.fromkeys(id for id in told if id in known))


def _texts(reply: Reply, name: str) -> list[str]:
    """The texts of a list, each on one line; NoAdvice if there is no list."""
    listed = _listed(reply.value(), name)
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
    return all(mark in asked for pattern in (_MARKED, _ADDRESS) for mark in pattern.findall(text))


def _words(text: str) -> set[str]:
    return {terms[0] for terms in document_words(text) if terms}


def _folded(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .?!")


_READERS: Final[Mapping[Task, Callable[[Reply, AdviceInput], Taken]]] = {
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
