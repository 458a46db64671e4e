"""WHAT is feedback? Whether a hit was useful for a question: what somebody says of one answer, not of the memory."""

import hashlib
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, get_args

from onrecord.model.limits import Origin

Verdict = Literal["useful", "not_useful"]
#: `none` takes a verdict back.
GivenVerdict = Literal["useful", "not_useful", "none"]

VERDICTS: Final[tuple[Verdict, ...]] = get_args(Verdict)
GIVEN_VERDICTS: Final[tuple[GivenVerdict, ...]] = get_args(GivenVerdict)
_DIGEST_CHARACTERS: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """The verdict of one user on one hit of one question.

    `question` is None unless the tenant keeps questions; `digest` then still tells equal questions from others.
    """

    memory: str
    user: str
    digest: str
    question: str | None = None
    verdict: Verdict
    origin: Origin
    at: datetime


def digest_of(question: str) -> str:
    """What stands for a question that is not kept: equal for questions that differ in case and spaces alone."""
    plain = " ".join(unicodedata.normalize("NFKC", question).casefold().split())
    return hashlib.sha256(plain.encode(errors="replace")).hexdigest()[:_DIGEST_CHARACTERS]
