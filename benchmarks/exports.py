"""HOW does a big store come about quickly? An export file written by hand, as `onrecord export` would write it."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from onrecord.care.export import FORMAT
from onrecord.model.memory import Memory, Version, derive_title
from onrecord.model.wire import to_json, write_instant


def write_export(path: Path, tenant: str, model: Memory, texts: Sequence[str]) -> None:
    """Memories like `model`, one for each text."""
    moment = model.created_at
    with path.open("w", encoding="utf-8") as file:
        lines = [
            {"onrecord": FORMAT, "exported_at": write_instant(moment), "memories": len(texts)},
            {"tenant": tenant, "last_id": str(len(texts)), "last_relation": 0},
        ]
        for number, text in enumerate(texts, 1):
            memory = replace(
                model, tenant=tenant, id=str(number), content=text, title=derive_title(None, text)
            )
            version = Version(
                number=1,
                change="remember",
                by=model.owner,
                origin="person",
                at=moment,
                until=None,
                memory=memory,
            )
            lines.append({"tenant": tenant, "id": memory.id, "versions": [to_json(version)]})
        file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
