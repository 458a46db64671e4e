"""HOW is it put together? The only place that names concrete back ends."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Final

from onrecord.config import Config, load, read_choice, read_duration, read_number, read_several
from onrecord.errors import StoreUnavailable, invalid
from onrecord.model.caller import EVERY_SYSTEM, Caller
from onrecord.model.connections import CheckPolicy, read_connections
from onrecord.model.limits import MOST_TURNS, PERMISSIONS
from onrecord.model.service_address import ServiceAddress, read_address
from onrecord.operation import Progress, StorePolicy, Watch, unshown
from onrecord.providers.advising import NO_ADVISORS, Advisor
from onrecord.providers.embedding import Embedder
from onrecord.providers.opening import OpenedEmbedders, guarded, open_embedder, read_options
from onrecord.remember.scrub import scrub_memory
from onrecord.service import OnRecord
from onrecord.store.backend import Backend
from onrecord.store.ports.store import Store
from onrecord.store.sql import SqlStore
from onrecord.store.sqlite import SqliteBackend
from onrecord.store.sqlite.rates import SharedBuckets
from onrecord.store.yaml import MEMORIES
from onrecord.turn_buffer import TurnBuffer

if TYPE_CHECKING:
    from onrecord.access.code_flow import CodeFlow
    from onrecord.access.identity import Authenticator
    from onrecord.access.throttle import Throttle
    from onrecord.access.tokens import OidcTokens
    from onrecord.aio import AsyncOnRecord

_YAML: Final = "yaml:"
_SQLITE: Final = "sqlite:///"
_MEMORY: Final = ":memory:"
#: A folder with such an ending is a mistake: a file was meant.
_DATABASE: Final = (".db", ".sqlite", ".sqlite3")


def connect(
    db: str | Path | None = None,
    *,
    caller: Caller | None = None,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    progress: Progress = unshown,
    embedder: Embedder | str | None = None,
    create: bool = True,
) -> OnRecord:
    """Open a store: a file path, `:memory:`, a PostgreSQL DSN, or a folder (or `memories.yaml` in it) for one in YAML;
    without one, whatever is configured.

    The same goes for the embedder: its name, or one of your own. A store that is not there yet is made; with
    `create=False` it is not, and StoreUnavailable is raised instead.
    """
    config = load(
        db=None if db is None else str(db), embedder=embedder if isinstance(embedder, str) else None
    )
    embedders = _embedders(config, None if isinstance(embedder, str) else embedder)
    advisor = _advisor(config)
    store = _open_store(config, clock, create=create)
    door = OnRecord(
        store,
        caller or local_caller(config),
        clock=clock,
        progress=progress,
        embedders=embedders,
        turns=_turns(config),
        policy=StorePolicy(
            audit_kept=_kept(config, "audit_days"),
            feedback_kept=_kept(config, "feedback_days"),
            watch=_watch(config),
            datahub=_datahub(config),
            checks=_checks(config),
        ),
    )
    door.advisor = advisor(store)
    return door


def connect_async(
    db: str | Path | None = None,
    *,
    caller: Caller | None = None,
    embedder: Embedder | str | None = None,
    create: bool = True,
) -> "AsyncOnRecord":
    """Like `connect`, for async programs: `memory = await connect_async(…)`, or `async with connect_async(…) as
    memory`.

    A thread opens the store; the event loop goes on meanwhile.
    """
    from onrecord.aio import AsyncOnRecord

    return AsyncOnRecord(lambda: connect(db, caller=caller, embedder=embedder, create=create))


def distribute(db: str) -> list[str]:
    """Spread the tables of a store over the servers of its PostgreSQL cluster; returns the tables that this call
    spread.

    Only the operator of the database can call this, on its machine: it is not an operation.
    """
    store = _open_store(load(db=db), lambda: datetime.now(UTC), create=False)
    try:
        return store.distribute()
    finally:
        store.close()


@dataclass(frozen=True, slots=True)
class ServerParts:
    """What a server needs: the store, a door to it, the authenticator and the throttle."""

    store: Store
    door: OnRecord
    authenticator: "Authenticator"
    throttle: "Throttle"
    #: How people sign in with an identity provider, if one is set up for that.
    code_flow: "CodeFlow | None" = None

    def close(self) -> None:
        self.authenticator.close()
        self.throttle.close()
        self.door.advisor.close()
        self.store.close()


def open_server_parts(
    config: Config,
    *,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    embedder: Embedder | None = None,
) -> ServerParts:
    """Open the configured store for callers over the network.

    Someone at this machine needs no key as long as only this machine can reach the server and no key exists.
    """
    # Here, not above: what reads tokens and asks services is for servers alone.
    from onrecord.access.grants import open_grants
    from onrecord.access.identity import Authenticator, Operator
    from onrecord.access.throttle import Throttle
    from onrecord.access.tokens import open_tokens

    per_minute = config.requests_per_minute and read_number(
        "requests_per_minute", config.requests_per_minute, 1, 10_000_000
    )
    tokens = config.oidc_issuer and open_tokens(
        issuer=config.oidc_issuer,
        audience=config.oidc_audience,
        jwks=config.oidc_jwks,
        claims=config.oidc_claims,
    )
    grants = open_grants(config.grants, trusted_proxies=config.trusted_proxies)
    embedders = _embedders(config, embedder)
    advisor = _advisor(config)
    store = _open_store(config, clock)
    owner = local_caller(config)
    authenticator = Authenticator(
        store,
        local=owner if is_loopback(config.host) else None,
        operator=None if config.operator_key is None else Operator(config.operator_key, owner),
        tokens=tokens or None,
        grants=grants,
        clock=clock,
    )
    door = OnRecord(
        store,
        owner,
        clock=clock,
        embedders=embedders,
        turns=_turns(config),
        policy=policy_of(config),
    )
    door.advisor = advisor(store)
    throttle = Throttle(
        per_minute or None,
        of_key=authenticator.per_minute,
        buckets=SharedBuckets(Path(config.rates_file).expanduser()) if config.rates_file else None,
    )
    return ServerParts(store, door, authenticator, throttle, _code_flow(config, tokens or None, store))


def _code_flow(config: Config, tokens: "OidcTokens | None", store: Store) -> "CodeFlow | None":
    from onrecord.access.code_flow import CodeFlow, read_client_secret

    if config.oidc_client_id is None:
        return None
    if tokens is None or config.oidc_issuer is None:
        raise invalid("oidc_client_id", "needs oidc_issuer: the issuer at which people sign in")
    secret = read_client_secret(config.oidc_client_secret, config.oidc_client_secret_file)
    return CodeFlow(
        issuer=config.oidc_issuer, client=config.oidc_client_id, secret=secret, tokens=tokens, store=store
    )


def policy_of(config: Config) -> StorePolicy:
    """What programs over a network and agents may do, wherever they are; the person at the command line has no such
    limits.
    """
    return StorePolicy(
        sources=read_several(config.sources),
        saves_per_run=read_number("saves_per_run", config.saves_per_run, 0, 1_000_000),
        audit_kept=_kept(config, "audit_days"),
        feedback_kept=_kept(config, "feedback_days"),
        gives_global=False,
        watch=_watch(config),
        datahub=_datahub(config),
        checks=_checks(config),
    )


def _kept(config: Config, name: str) -> timedelta | None:
    """For how long something is kept, by a setting that counts days."""
    given = getattr(config, name)
    days = given and read_number(name, given, 1, 100_000)
    return timedelta(days=days) if days else None


def _datahub(config: Config) -> ServiceAddress | None:
    if config.datahub_url is None:
        return None
    # Whoever applies a changeset is taken to be gone after a minute: two tries take less.
    seconds = read_number("datahub_timeout", config.datahub_timeout, 1, 25)
    return read_address("datahub_url", config.datahub_url, config.datahub_token, seconds)


def _checks(config: Config) -> CheckPolicy:
    """What checks may read. The file is read anew by each process, and its text stays in none but those that check."""
    entries, setting = (config.check_connections or "").replace("\n", ",").split(","), "check_connections"
    if config.check_connections_file is not None:
        if config.check_connections is not None:
            raise invalid(
                "check_connections_file", "is for when check_connections is not set; give one of them"
            )
        path, setting = Path(config.check_connections_file).expanduser(), "check_connections_file"
        try:
            # An address may hold commas: of several servers, or in a password.
            entries = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as problem:
            raise invalid(setting, f"{path} cannot be read: {type(problem).__name__}") from None
    return CheckPolicy(
        connections=read_connections(setting, entries, config.tenant),
        every=read_duration("check_every", config.check_every),
        seconds=read_number("check_timeout", config.check_timeout, 1, 300),
    )


def _watch(config: Config) -> Watch | None:
    every = read_duration("watch_every", config.watch_every)
    return Watch(every, read_several(config.sources)) if read_choice("watch", config.watch) else None


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server that listens on this host."""
    try:
        return host == "localhost" or ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _turns(config: Config) -> TurnBuffer:
    return TurnBuffer(read_number("turns", config.turns, 1, MOST_TURNS))


def _embedders(config: Config, own: Embedder | None) -> OpenedEmbedders:
    options = read_options(
        url=config.embedder_url,
        key=config.embedder_key,
        dimensions=config.embedder_dimensions,
        timeout=config.embedder_timeout,
    )
    return OpenedEmbedders(open_embedder(config.embedder, options) if own is None else guarded(own), options)


def _advisor(config: Config) -> Callable[[Store], Advisor]:
    """Opens the configured advisor of a store; without one, none of its code is loaded. The settings are
    read before the store is opened.
    """
    if config.advisor.strip() == "none":
        return lambda store: NO_ADVISORS
    from onrecord.advisor.opened import OpenedAdvisor
    from onrecord.advisor.policy import PolicyTexts, read_policy

    read_choice("advisor_texts", config.advisor_texts)
    policy = read_policy(
        PolicyTexts(
            advisor=config.advisor,
            models=config.advisor_models,
            url=config.advisor_url,
            key=config.advisor_key,
            key_file=config.advisor_key_file,
            form=config.advisor_form,
            timeout=config.advisor_timeout,
            at_once=config.advisor_at_once,
            calls_per_day=config.advisor_calls_per_day,
            calls_per_agent=config.advisor_calls_per_agent,
            dollars_per_day=config.advisor_dollars_per_day,
            dollars_per_agent=config.advisor_dollars_per_agent,
            prices=config.advisor_prices,
            keeps_texts=config.advisor_texts,
        )
    )
    return lambda store: OpenedAdvisor(store, policy)


def local_caller(config: Config) -> Caller:
    """The owner of this machine, or a user with the password of the database. They may do everything in their tenant."""
    return Caller(
        tenant=config.tenant,
        user=config.user,
        conversation=config.conversation,
        permissions=frozenset(PERMISSIONS),
        systems={EVERY_SYSTEM: "manage"},
        operator=True,
    )


def refuse_server(config: Config) -> None:
    """Invalid if a server is to be asked: for what works only where the store is."""
    if config.url is not None:
        raise invalid(
            "url",
            f"names a server ({config.url}), and this works only at the machine of a store: run it there, or name a "
            "store of this machine with --db (db)",
        )


def _open_store(config: Config, clock: Callable[[], datetime], *, create: bool = True) -> SqlStore:
    refuse_server(config)
    # A store in memory is always new.
    create = create or config.db.removeprefix(_SQLITE) == _MEMORY
    return SqlStore(_backend(config, clock, create), create=create)


def _backend(config: Config, clock: Callable[[], datetime], create: bool) -> Backend:
    db = config.db
    if db.startswith(("postgresql:", "postgres:", "postgresql+")):
        try:
            from onrecord.store.postgres import PostgresBackend, Timeouts
        except ModuleNotFoundError:
            raise StoreUnavailable(
                "PostgreSQL needs one more package: pip install 'onrecord[postgres]'."
            ) from None
        names = ("connect", "statement", "lock")
        settings = ((name, f"db_{name}_timeout") for name in names)
        given = {
            name: read_number(setting, getattr(config, setting), 1, 86_400) for name, setting in settings
        }
        return PostgresBackend(db, Timeouts(**given))
    if re.match(r"(host|dbname|port|user|service)=\S", db):
        raise StoreUnavailable("Write the PostgreSQL DSN as an address: postgresql://user@host/name.")
    if "://" in db and not db.startswith(_SQLITE):
        raise StoreUnavailable(
            f"{db.split('://')[0]}:// is not a kind of store; give a file path or a PostgreSQL DSN."
        )
    if (yaml := _yaml_path(db)) is not None:
        from onrecord.store.yaml.backend import YamlBackend

        return YamlBackend(yaml, clean=lambda memory: scrub_memory(memory)[0], clock=clock, create=create)
    path = db.removeprefix(_SQLITE)
    return SqliteBackend(None if path == _MEMORY else Path(path).expanduser())


def _yaml_path(db: str) -> Path | None:
    """The file of a YAML store, if `db` names one: a folder, its `memories.yaml`, or either after `yaml:`."""
    path = Path(db.removeprefix(_YAML)).expanduser()
    if path.is_dir() and path.suffix not in _DATABASE:
        return path / MEMORIES
    if path.name.endswith(MEMORIES):
        return path
    if not db.startswith(_YAML):
        return None
    return path if path.suffix in (".yaml", ".yml") else path / MEMORIES
