"""WHAT does a package index show of us? The README with links that lead into the repository, since an index has no other files."""

import re
from pathlib import Path
from typing import Any, Final

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK: Final = re.compile(r"(!?\[[^\]]*\]\(|src=\"|srcset=\")(?!https?://|#)([^)\"]+)")
_IMAGES: Final = (".png", ".svg")


class CustomMetadataHook(MetadataHookInterface):
    def update(self, metadata: dict[str, Any]) -> None:
        repository = metadata["urls"]["Repository"]
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": with_whole_links(text, repository)}


def with_whole_links(text: str, repository: str) -> str:
    """A page whose links are whole addresses: of a file as people read it, of an image as browsers load it."""

    def whole(found: re.Match[str]) -> str:
        before, path = found.groups()
        place = "raw" if path.endswith(_IMAGES) else "blob"
        return f"{before}{repository}/{place}/main/{path}"

    return _LINK.sub(whole, text)
