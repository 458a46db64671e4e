"""HOW is feedback read from a line? Checked, and without secrets."""

from dataclasses import replace
from typing import Any, Final, cast

from onrecord.care.lines import ExportLine
from onrecord.model import ids, rules
from onrecord.model.feedback import VERDICTS, Feedback, digest_of
from onrecord.model.limits import GLOBAL_TENANT, QUESTION_CHARACTERS
from onrecord.model.shapes import Object
from onrecord.providers.scrubber import scrub


def read_feedback(line: ExportLine, tenant: str) -> Feedback:
    if tenant == GLOBAL_TENANT:
        raise line.fault(f"is listed under tenant {tenant}; feedback belongs to the tenant of a caller")
    given = cast(Feedback, line.checked("feedback", _FEEDBACK))
    if given.question is None:
        return given
    if given.digest != digest_of(given.question):
        raise line.fault("has feedback whose digest is not that of its question; it was changed or damaged")
    clean = scrub(given.question)
    return replace(given, question=clean.text, digest=digest_of(clean.text)) if clean.found else given


def _id(value: Any) -> str:
    address = ids.address(rules.Text()(value))
    return ids.spell(address.tenant or "", address.id)


_FEEDBACK: Final = Object(
    "feedback",
    {
        "memory": _id,
        "user": rules.NAME,
        "digest": rules.Text(at_least=1, at_most=64),
        "question": rules.OrNone(rules.Text(at_least=1, at_most=QUESTION_CHARACTERS)),
        "verdict": rules.Choice(VERDICTS),
        "origin": rules.ORIGIN,
        "at": rules.INSTANT,
    },
    needed=("memory", "user", "digest", "verdict", "origin", "at"),
    build=Feedback,
    passes_over=True,
)
