"""HOW does what an agent gets unasked look in a shell?"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from onrecord.surfaces.cli.parts import Part, shows

if TYPE_CHECKING:
    from onrecord.context.attaching import Attached
    from onrecord.context.parts import ContextGiven


@shows
def _(answer: "ContextGiven") -> Iterator[Part]:
    yield answer.text
    yield from (f"Left out {reason}" for reason in answer.degraded)


@shows
def _(answer: "Attached") -> Iterator[Part]:
    if answer.text:
        yield answer.text
    elif answer.repeated:
        known = ", ".join(f"#{each}" for each in answer.repeated)
        yield f"This conversation got before: {known}"
    else:
        yield "No memories about what it mentions."
    if answer.cut:
        yield "Only its beginning was read: it is too long."
