"""WHAT do programs read that look for us? Writes llms.txt, the index of the documentation for language models, and server.json, our
entry in the registry of MCP servers; `make docs` runs it.
"""

import json
import re
import tomllib
from pathlib import Path

from onrecord import __version__
from onrecord.config import load

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
REPOSITORY = PROJECT["urls"]["Repository"]
#: Settings that a host may want to give us, and whether they are secret.
VARIABLES = {"db": False, "url": False, "key": True, "tenant": False, "project": False, "user": False}


def llms() -> str:
    """A line for each page of the index, with what it is for."""
    rows = re.findall(
        r"^\| (.+) \| (.+) \|$", (ROOT / "docs" / "README.md").read_text(encoding="utf-8"), re.M
    )
    lines = [f"- {_with_addresses(pages)}: to {purpose}" for purpose, pages in rows[1:]]
    return "\n".join(
        ("# OnRecord", "", f"> {PROJECT['description']}", "", "## Documentation", "", *lines, "")
    )


def _with_addresses(pages: str) -> str:
    def address(found: re.Match[str]) -> str:
        path = (ROOT / "docs" / found[1]).resolve().relative_to(ROOT)
        place = "tree" if (ROOT / path).is_dir() else "raw"
        return f"]({REPOSITORY}/{place}/main/{path})"

    return re.sub(r"\]\(([^)]+)\)", address, pages)


def server() -> str:
    """What the registry wants to know: who we are, and how a host starts us."""
    settings = {each.name: each.help for each in load({"ONRECORD_CONFIG": "/dev/null"}).settings}
    package = {
        "registryType": "pypi",
        "identifier": PROJECT["name"],
        "version": __version__,
        "runtimeHint": "uvx",
        "runtimeArguments": [
            {"type": "named", "name": "--from", "value": f"{PROJECT['name']}[server]=={__version__}"}
        ],
        "packageArguments": [{"type": "positional", "value": "mcp"}],
        "transport": {"type": "stdio"},
        "environmentVariables": [
            {
                "name": f"ONRECORD_{name.upper()}",
                "description": settings[name],
                "isRequired": False,
                "isSecret": is_secret,
                "format": "string",
            }
            for name, is_secret in VARIABLES.items()
        ],
    }
    about = {
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": f"io.github.{REPOSITORY.removeprefix('https://github.com/')}",
        "title": "OnRecord",
        "description": "Memory for agents that work on real systems: local or shared, with versions, and no model.",
        "version": __version__,
        "repository": {"url": REPOSITORY, "source": "github"},
        "packages": [package],
    }
    return json.dumps(about, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    (ROOT / "llms.txt").write_text(llms(), encoding="utf-8")
    (ROOT / "server.json").write_text(server(), encoding="utf-8")
