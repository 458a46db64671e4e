"""WHICH term does a text define? The one at its beginning: "churn" of "churn refers to customers who left"."""

import re
from typing import Final

#: A term is no longer than this. What follows it says that it is a definition: "is" alone does not, as in "orders are late".
_LONGEST: Final = 80
_DEFINES: Final = re.compile(
    r"\s(?:(?:refers?|pertains?) to|means?|stands? for|represents?|(?:is|are) (?:an?|the|any|what|how))\b|=\s",
    re.IGNORECASE,
)
_AROUND: Final = re.compile(r"^\W+|\W+$")
#: No more of a text need be read to see what it defines.
OPENING: Final = 100


def defined_term(text: str) -> str | None:
    found = _DEFINES.search(text[:OPENING])
    if found is None:
        return None
    term = _AROUND.sub("", text[: found.start()])
    return term if 0 < len(term) <= _LONGEST else None
