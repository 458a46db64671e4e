"""HOW are failed jobs dismissed? Jobs that were given up are deleted; their work can be requested again."""

from dataclasses import dataclass

from onrecord.care import homes
from onrecord.model.answer import Answer
from onrecord.model.request import MAYBE_NAME, Request, ask
from onrecord.operation import Call, operation


@dataclass(frozen=True, slots=True)
class DismissFailures(Request):
    """Forget the jobs of the tenant that were given up, so that its status no longer lists them.

    A worker still asks for vectors that are missing; `embed-missing` makes them at once. Turns whose facts could not be
    extracted are dropped.
    """

    name: str | None = ask(MAYBE_NAME, "Only jobs of this name, such as embed.", None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dismissed(Answer):
    """How many jobs were forgotten."""

    jobs: int


@operation("write", "memory.admin", "POST /dismiss-failures")
def dismiss_failures(call: Call, ask: DismissFailures) -> Dismissed:
    gone = 0
    for home in homes.embedded(call, "Forgetting the failures of all tenants", False):
        with call.store.restoring(home) as restoring:
            gone += restoring.jobs.dismiss(ask.name)
    call.note("dismiss_failures")
    return Dismissed(jobs=gone)
