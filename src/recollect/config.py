"""WHAT is set? The only module that reads the environment: once, into one frozen value."""

import getpass
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import platformdirs

from recollect.errors import Fault, Invalid

_APP: Final = "recollect"
# Settings are printed and pasted into reports; the password of a DSN is not.
_SECRET: Final = ("embedder_key",)
_PASSWORD: Final = re.compile(r"(?P<before>://[^:/@]*:).*(?=@)|(?P<named>[?&]password=)[^&]*")


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: its value, and where that came from."""

    name: str
    value: str | None
    origin: str
    help: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Everything that can be set from outside."""

    db: str
    tenant: str
    user: str
    conversation: str | None
    embedder: str
    embedder_url: str | None
    embedder_key: str | None
    embedder_dimensions: str | None
    embedder_timeout: str | None
    settings: tuple[Setting, ...] = ()


_HELP: Final = {
    "db": "Where memories live: a file, :memory:, a PostgreSQL DSN, or a folder for a store in YAML.",
    "tenant": "Whose memories: one name for a team, a project or a person.",
    "user": "Who you are: the owner of what you save.",
    "conversation": "The conversation you are in; new memories are pinned to it.",
    "embedder": "Who makes vectors: e5 (built in), none, openai:MODEL, ollama:MODEL or sentence-transformers:FOLDER.",
    "embedder_url": "Where openai: and ollama: are reached, if not at their usual address.",
    "embedder_key": "The key for it.",
    "embedder_dimensions": "How long its vectors are, if that can be chosen.",
    "embedder_timeout": "How many seconds to wait for it.",
}


def load(environment: Mapping[str, str] | None = None, **chosen: str | None) -> Config:
    """What was chosen on the spot, else the environment (RECOLLECT_DB …), else the config file, else the default."""
    environment = os.environ if environment is None else environment
    path = config_path(environment)
    file = _read_file(path)
    settings, values = [], dict[str, Any]()
    for name, help in _HELP.items():
        variable = f"RECOLLECT_{name.upper()}"
        if chosen.get(name) is not None:
            value, origin = chosen[name], "given"
        elif environment.get(variable):
            value, origin = environment[variable], variable
        elif name in file:
            value, origin = file[name], str(path)
        else:
            value, origin = _default(name), "default"
        values[name] = value
        settings.append(Setting(name, value and _shown(name, value), origin, help))
    return Config(**values, settings=tuple(settings))


def _shown(name: str, value: str) -> str:
    return "***" if name in _SECRET else _PASSWORD.sub(r"\g<before>\g<named>***", value)


def config_path(environment: Mapping[str, str]) -> Path:
    """The config file, wherever the environment says it is."""
    given = environment.get("RECOLLECT_CONFIG")
    return Path(given) if given else platformdirs.user_config_path(_APP) / "config.toml"


def _default(name: str) -> str | None:
    if name == "db":
        return str(platformdirs.user_data_path(_APP) / "recollect.db")
    if name == "tenant":
        return "default"
    if name == "embedder":
        return "e5"
    return _login_name() if name == "user" else None


def _login_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        # A container may run under a number that has no name.
        return "me"


def _read_file(path: Path) -> dict[str, str]:
    try:
        read = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as problem:
        raise Invalid([Fault(str(path), f"cannot be read: {problem}")]) from None
    faults = [
        Fault(f"{path}: {name}", f"is not a setting; there are {', '.join(_HELP)}")
        for name in read
        if name not in _HELP
    ]
    faults += [
        Fault(f"{path}: {name}", "must be a text")
        for name, value in read.items()
        if not isinstance(value, str)
    ]
    if faults:
        raise Invalid(faults)
    return read
