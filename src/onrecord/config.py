"""WHAT is set? The only module that reads the environment: once, into one frozen value."""

import getpass
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, cast

import platformdirs

from onrecord import faces, former_name, repository
from onrecord.errors import Fault, Invalid, invalid
from onrecord.model.limits import SAVES_PER_RUN, TURNS
from onrecord.model.rules import Choice, Integer, Text
from onrecord.model.shapes import Object, checked_field, faults_at

_APP: Final = "onrecord"
# Settings are printed and pasted into reports; the password of a DSN is not.
_SECRET: Final = (
    "key",
    "embedder_key",
    "operator_key",
    "datahub_token",
    "advisor_key",
    "oidc_client_secret",
    "check_connections",
)
_PASSWORD: Final = re.compile(
    r"(?P<before>://[^:/@]*:).*(?=@)|(?P<named>[?&](?:password|api[-_]?key|key|token)=)[^&]*"
)

#: Settings that must not be empty: they say which store, which caller and who may come in. An empty value most likely comes
#: from an unset variable, and a default would then be wrong.
NEVER_EMPTY: Final = frozenset(
    {
        *(
            "db",
            "url",
            "key",
            "tenant",
            "user",
            "embedder_key",
            "operator_key",
            "oidc_issuer",
            "oidc_audience",
            "grants",
        ),
        *("advisor_key", "advisor_key_file"),
        *("oidc_client_id", "oidc_client_secret", "oidc_client_secret_file"),
        *("datahub_url", "datahub_token"),
    }
)
_ORIGIN: Final = re.compile(r"https?://(?:[a-zA-Z0-9.-]+|\[[0-9a-fA-F:.]+\])(?::[0-9]{1,5})?", re.ASCII)
#: How many seconds the units of a time span have.
_SECONDS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_YES_OR_NO: Final = {"true": "yes", "1": "yes", "on": "yes", "false": "no", "0": "no", "off": "no"}


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: its value, and where that came from."""

    name: str
    value: str | None
    origin: str
    help: str


def _setting(help: str, default: str | None = None, *, shown: bool = True) -> Any:
    """A field of the settings: its help text, its default, and whether its value may be shown."""
    return field(metadata={"help": help, "default": default}, repr=shown)


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Everything that can be set from outside. All values are texts; the code that uses one parses it."""

    db: str = _setting(
        "Where memories live: a file, :memory:, a PostgreSQL DSN, or a folder for a store in YAML."
    )
    url: str | None = _setting("The server whose store is used instead: its address.")
    key: str | None = _setting("The key or token for that server.")
    tenant: str = _setting("Whose memories: one name for a team, a project or a person.", "default")
    project: str = _setting(
        "Whether each repository has a tenant of its own, if no tenant is named: yes or no.", "no"
    )
    user: str = _setting("Who you are: the owner of what you save.")
    conversation: str | None = _setting("The conversation you are in; new memories are pinned to it.")
    embedder: str = _setting(
        "Who makes vectors: e5 (built in), none, openai:MODEL, ollama:MODEL or sentence-transformers:FOLDER.",
        "e5",
    )
    embedder_url: str | None = _setting(
        "Where openai: and ollama: are reached, if not at their usual address."
    )
    embedder_key: str | None = _setting("The key for it.", shown=False)
    embedder_dimensions: str | None = _setting("How long its vectors are, if that can be chosen.")
    embedder_timeout: str | None = _setting("How many seconds to wait for it.")
    advisor: str = _setting(
        "Which model gives advice: none, openai:MODEL, anthropic:MODEL, google:MODEL or ollama:MODEL.", "none"
    )
    advisor_models: str | None = _setting(
        "The models of single tasks (rerank_fine=openai:MODEL) and others that requests may name, separated by commas."
    )
    advisor_url: str | None = _setting(
        "Where it is reached, if not at its usual address; several as openai=…,ollama=…."
    )
    advisor_key: str | None = _setting("The key for it; several as openai=…,anthropic=….", shown=False)
    advisor_key_file: str | None = _setting("A file with that key, instead.")
    advisor_form: str = _setting(
        "How models give their replies a shape: tools, json (the JSON mode of their service) or text.",
        "tools",
    )
    advisor_timeout: str | None = _setting("How many seconds to wait for it, repeated attempts included.")
    advisor_at_once: str | None = _setting("How many calls it gets at once from one process.")
    advisor_calls_per_day: str | None = _setting("How often a tenant may ask it on a day.")
    advisor_calls_per_agent: str | None = _setting("How often one agent of a tenant may ask it on a day.")
    advisor_dollars_per_day: str | None = _setting("What a tenant may spend on it on a day, in dollars.")
    advisor_dollars_per_agent: str | None = _setting(
        "What one agent of a tenant may spend on it on a day, in dollars."
    )
    advisor_prices: str | None = _setting(
        "What a million tokens cost in dollars, read and written, as openai:MODEL=0.25/2, separated by commas."
    )
    advisor_texts: str = _setting("Whether the audit keeps what was sent to it, too: yes or no.", "no")
    host: str = _setting("Where a server listens; beyond this machine it needs keys.", "127.0.0.1")
    port: str = _setting("On which port; 0 takes a free one.", "8321")
    faces: str = _setting(
        f"Which faces MCP clients get at /mcp, separated by commas: {', '.join(faces.WITH_TOOLS)}.",
        faces.USUAL,
    )
    worker: str = _setting(
        "Whether servers, `onrecord mcp` and commands see to what was put off, too: yes or no.", "yes"
    )
    sources: str | None = _setting(
        "The sources that may be ingested over the network and over MCP, separated by commas."
    )
    datahub_url: str | None = _setting(
        "Where DataHub is: `ingest datahub` reads it, and what is approved of its datasets is written there."
    )
    datahub_token: str | None = _setting("The access token for it.", shown=False)
    datahub_timeout: str = _setting("How many seconds to wait for one answer of it, at most 25.", "20")
    watch: str = _setting(
        "Whether workers look if what memories are about has changed, and mark them stale: yes or no.", "no"
    )
    watch_every: str = _setting("How often they look: a number with s, m, h or d, such as 15m.", "15m")
    check_connections: str | None = _setting(
        "What checks may read: NAME=ADDRESS of a database or a folder, or TENANT/NAME=ADDRESS, separated by commas."
    )
    check_connections_file: str | None = _setting("A file with these on lines of their own, instead.")
    check_every: str = _setting("How often workers run checks: a number with s, m, h or d, such as 1h.", "1h")
    check_timeout: str = _setting("How many seconds one check may take.", "10")
    operator_key: str | None = _setting(
        "A secret of at least 32 characters; a caller who sends it to a server may do everything in every tenant.",
        shown=False,
    )
    oidc_issuer: str | None = _setting("The issuer whose tokens are accepted beside keys.")
    oidc_audience: str | None = _setting("The audience that such a token must name: this server.")
    oidc_jwks: str | None = _setting(
        "Where the issuer's keys are: a file or an address; else the issuer is asked."
    )
    oidc_claims: str | None = _setting(
        "Which claim of a token holds what, such as tenant=org,user=sub,permissions=scope,personas=groups."
    )
    oidc_client_id: str | None = _setting(
        "The name of this server at the issuer, so that people sign in to its pages there."
    )
    oidc_client_secret: str | None = _setting(
        "The secret that goes with it, if the issuer wants one.", shown=False
    )
    oidc_client_secret_file: str | None = _setting("A file with that secret, instead.")
    grants: str | None = _setting(
        "Where to find which systems a caller may use: a file, header:NAME or an address."
    )
    trusted_proxies: str | None = _setting(
        "The addresses from which such a header is trusted, separated by commas."
    )
    allowed_hosts: str | None = _setting("The names under which a server is reached, separated by commas.")
    allowed_origins: str | None = _setting("The origins whose pages may ask it, separated by commas.")
    public_url: str | None = _setting(
        "The address under which people open the pages, such as https://memory.example.com; else the one that was asked."
    )
    embed_origins: str | None = _setting(
        "The origins whose pages may show a system's memories in a frame, separated by commas."
    )
    requests_per_minute: str | None = _setting("How many requests a minute one caller has.")
    saves_per_run: str = _setting("How many saves an unattended run may make.", str(SAVES_PER_RUN))
    turns: str = _setting("How many of the last turns of a conversation are kept in memory.", str(TURNS))
    audit_days: str | None = _setting(
        "How many days lines of the audit are kept; a server's worker and `onrecord work` delete older ones."
    )
    feedback_days: str | None = _setting(
        "How many days feedback on hits is kept; a server's worker and `onrecord work` delete what is older."
    )
    rates_file: str | None = _setting(
        "Where servers of this machine count requests together: a file. The processes of one --workers count together without it."
    )
    connections: str = _setting(
        "How many connections a server holds at once; beyond them only those with a key get in.", "1000"
    )
    request_timeout: str = _setting(
        "How many seconds a request has to be sent, and then to be answered.", "60"
    )
    shutdown_timeout: str = _setting(
        "How many seconds a server has to finish its requests, and a worker its jobs, when it is stopped.",
        "30",
    )
    db_connect_timeout: str = _setting("How many seconds to wait for a connection to PostgreSQL.", "10")
    db_statement_timeout: str = _setting("How many seconds a statement may take there.", "60")
    db_lock_timeout: str = _setting(
        "How many seconds to wait there for another writer of the same tenant.", "60"
    )
    #: The settings of faces, by name.
    of_faces: Mapping[str, str]
    settings: tuple[Setting, ...] = ()


_SETTINGS: Final = {each.name: each.metadata for each in fields(Config) if each.metadata} | {
    each.name: {"help": each.help, "default": each.default} for each in faces.SETTINGS
}


def load(environment: Mapping[str, str] | None = None, **chosen: str | None) -> Config:
    """The settings in force. For each the first of these counts: an argument, the environment (ONRECORD_DB …), the
    config file, the default.
    """
    environment = os.environ if environment is None else environment
    path = config_path(environment)
    former_name.refuse_variables(
        environment, _SETTINGS, [name for name, value in chosen.items() if value is not None]
    )
    if "ONRECORD_CONFIG" not in environment:
        former_name.refuse_config(path)
    file = _read_file(path)
    settings, values = [], dict[str, Any]()
    for name, details in _SETTINGS.items():
        variable = f"ONRECORD_{name.upper()}"
        if (given := chosen.get(name)) is not None:
            value, origin = (given if _is_set(name, given, name, chosen=True) else None), "given"
        elif _is_set(name, environment.get(variable), variable):
            value, origin = environment[variable], variable
        elif _is_set(name, file.get(name), f"{path}: {name}"):
            value, origin = file[name], str(path)
        elif environment.get(also := faces.VARIABLES.get(name, ""), "").strip():
            value, origin = _in_our_words(name, environment[also]), also
        else:
            value, origin = _default(name), "default"
        values[name] = value
        settings.append(Setting(name, value and _shown(name, value), origin, details["help"]))
    if next(each for each in settings if each.name == "db").origin == "default":
        former_name.refuse_store(default_store())
    if values["project"] != "no" and read_choice("project", values["project"]):
        settings = _with_tenant_of_repository(settings, values)
    if values["url"] is not None:
        settings = _with_one_store(settings, values)
    of_faces = {setting.name: values.pop(setting.name) for setting in faces.SETTINGS}
    return Config(**values, of_faces=of_faces, settings=tuple(settings))


def _with_tenant_of_repository(settings: list[Setting], values: dict[str, Any]) -> list[Setting]:
    """The settings with the tenant of the repository that this process works in, unless a tenant is named."""
    named = next(each for each in settings if each.name == "tenant")
    tenant = repository.tenant_of(Path.cwd()) if named.origin == "default" else None
    if tenant is None:
        return settings
    values["tenant"] = tenant
    found = replace(named, value=tenant, origin="the repository")
    return [found if each is named else each for each in settings]


def _with_one_store(settings: list[Setting], values: dict[str, Any]) -> list[Setting]:
    """The settings without a server if a store of this machine is named more closely; Invalid if both are named alike."""
    ranks = {"given": 0, "ONRECORD_DB": 1, "ONRECORD_URL": 1, "default": 3}
    db, url = (ranks.get(each.origin, 2) for each in settings if each.name in ("db", "url"))
    if db == url:
        raise invalid("url", "names a server, and db a store of this machine; give one of the two")
    kept, left_out = ("url", "db") if url < db else ("db", "url")
    if left_out == "url":
        values["url"] = None
    return [
        replace(each, value=None, origin=f"not used: {kept} comes first") if each.name == left_out else each
        for each in settings
    ]


def _is_set(name: str, value: str | None, where: str, *, chosen: bool = False) -> bool:
    """Whether a value is set. Blank counts as not set, or is refused where the default would silently name someone
    else.
    """
    if value is None or value.strip():
        return value is not None
    if name in NEVER_EMPTY or (chosen and _default(name) is not None):
        raise Invalid([_emptiness(where)])
    return False


def _emptiness(where: str) -> Fault:
    return Fault(
        where, "is empty; perhaps a variable that it refers to is not set. Give a value, or leave it out"
    )


def _in_our_words(name: str, value: str) -> str:
    """The value of a variable that belongs to another system. Such a variable may say true or false for our yes or
    no.
    """
    value = value.strip()
    return _YES_OR_NO.get(value.lower(), value) if _default(name) in ("yes", "no") else value


def as_environment(config: Config) -> dict[str, str]:
    """These settings as environment variables, for a process that is started from here."""
    values = {
        name: config.of_faces[name] if name in config.of_faces else getattr(config, name)
        for name in (setting.name for setting in config.settings)
    }
    return {f"ONRECORD_{name.upper()}": value for name, value in values.items() if value is not None}


def _shown(name: str, value: str) -> str:
    return "***" if name in _SECRET else _PASSWORD.sub(r"\g<before>\g<named>***", value)


def config_path(environment: Mapping[str, str] | None = None) -> Path:
    """The path of the config file, which the environment may set."""
    given = (os.environ if environment is None else environment).get("ONRECORD_CONFIG")
    if given is not None and not given.strip():
        raise Invalid([_emptiness("ONRECORD_CONFIG")])
    return Path(given) if given else platformdirs.user_config_path(_APP) / "config.toml"


def default_store() -> Path:
    """Where the store is if no setting names one."""
    return platformdirs.user_data_path(_APP) / f"{_APP}.db"


def _default(name: str) -> str | None:
    if name == "db":
        return str(default_store())
    return _login_name() if name == "user" else cast(str | None, _SETTINGS[name]["default"])


def read_number(name: str, value: str, at_least: int, at_most: int) -> int:
    """A setting that is a whole number, checked against its bounds."""
    given = int(value[:20]) if value.isascii() and value.isdigit() else value
    return cast(int, checked_field(name, Integer(at_least, at_most), given))


def read_several(value: str | None) -> tuple[str, ...]:
    """A setting that lists values, separated by commas."""
    return tuple(part for each in (value or "").split(",") if (part := each.strip()))


def read_origin(name: str, value: str) -> str:
    """A setting that names where pages are: scheme and host, and the port if it is not the usual one."""
    if not _ORIGIN.fullmatch(value.rstrip("/")):
        raise invalid(
            name, f"must be an address such as https://memory.example.com, without a path (got {value!r})"
        )
    return value.rstrip("/")


def read_duration(name: str, value: str) -> timedelta:
    """A setting that is a time span, such as 90s, 15m, 2h or 1d; at most a year."""
    written = re.fullmatch(r"(\d{1,9})\s*([smhd])", value.strip())
    span = timedelta(seconds=int(written[1]) * _SECONDS[written[2]]) if written else timedelta()
    if not timedelta() < span <= timedelta(days=365):
        raise invalid(
            name, f"must be a number with s, m, h or d, such as 15m, and at most a year (got {value!r})"
        )
    return span


def read_choice(name: str, value: str) -> bool:
    """A setting that is yes or no."""
    return bool(checked_field(name, Choice(("yes", "no")), value) == "yes")


def _login_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        # In a container the user id may have no name.
        return "me"


def _read_file(path: Path) -> dict[str, str]:
    try:
        read = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as problem:
        raise invalid(str(path), f"cannot be read: {problem}") from None
    try:
        return cast(dict[str, str], _FILE(read))
    except ValueError as reason:
        raise Invalid(
            Fault(f"{path}: {each.field}", each.message) for each in faults_at("", reason)
        ) from None


_FILE: Final = Object("the settings", dict.fromkeys(_SETTINGS, Text()))
