"""WHERE may a file lie? A path is brought to its one form, or refused; it never leads out of its conversation.

We refuse paths that would be dangerous, or mean something else, once someone saves the file to a disk of any kind.
"""

import re
import unicodedata
from typing import Final

from onrecord.model.limits import PATH_CHARACTERS, PATH_PART_CHARACTERS

_DRIVE: Final = re.compile(r"[A-Za-z]:")
# With the superscripts that Windows takes for digits.
_DEVICE: Final = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[1-9¹²³])", re.IGNORECASE)


def normalised(path: str) -> str:
    """The path with single forward slashes; ValueError says what is wrong and quotes it."""
    text = unicodedata.normalize("NFC", path).replace("\\", "/")
    if bad := next((each for each in text if unicodedata.category(each) in ("Cc", "Cs")), None):
        raise ValueError(f"must not contain control characters (has {bad!a})")
    if text.startswith("/"):
        raise ValueError(f"must be relative, without a slash in front (got {_shown(path)})")
    if _DRIVE.match(text):
        raise ValueError(f"must not name a drive (got {_shown(path)})")
    components = [each for each in text.split("/") if each]
    clean = "/".join(components)
    if not clean.strip():
        raise ValueError("must not be empty")
    for component in components:
        _check(component)
    if len(clean) > PATH_CHARACTERS:
        raise ValueError(f"must have at most {PATH_CHARACTERS} characters (has {len(clean)})")
    return clean


def _check(component: str) -> None:
    if component in (".", ".."):
        raise ValueError(f"must not contain {component!a}: write the path from the top of the conversation")
    if component.startswith("."):
        raise ValueError(f"must not contain hidden files or folders (has {_shown(component)})")
    if len(component) > PATH_PART_CHARACTERS:
        raise ValueError(
            f"must have at most {PATH_PART_CHARACTERS} characters between two slashes (has {_shown(component)})"
        )
    # Windows looks at the part before the first dot, and past spaces behind it.
    if _DEVICE.fullmatch(component.split(".")[0].strip()):
        raise ValueError(f"must not contain the name of a device (has {_shown(component)})")


def _shown(text: str) -> str:
    shown = ascii(text)
    return shown if len(shown) <= 60 else shown[:57] + "..."
