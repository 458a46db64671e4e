"""HOW is an agent set, and who uses it? Its settings fill in what its requests leave open.

Anyone may use an agent that nobody has used yet. The first to set it or write to its scratchpad is its first user; its
users and admins read and write both, and add users. Only the first user and admins remove others, and anyone may
leave. Only admins read notes without a known user. The whole tenant uses the shared notes and the default agent.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, cast

from onrecord.errors import Conflict, Fault, Forbidden
from onrecord.model import limits, rules
from onrecord.model.advice import RERANK_WHEN, RerankWhen
from onrecord.model.agent import AGENT_NAME, ShownAgent, agent_faults
from onrecord.model.answer import Answer
from onrecord.model.caller import Caller
from onrecord.model.request import ADVISED, PLACES, Request, ask
from onrecord.model.rules import OrNone
from onrecord.model.workspace import TENANTS_AGENTS, AgentSettings
from onrecord.operation import Call, operation
from onrecord.providers.scrubber import scrub_value
from onrecord.store.ports.records import Writing
from onrecord.store.ports.workspace import Workspace, WritableWorkspace

_DEFAULT: Final = AgentSettings()
_WHOM: Final = "yes, no, or one of the models that are configured; the tenant's setting when left out"


@dataclass(frozen=True, slots=True)
class SetAgent(Request):
    """Set how an agent searches when its requests leave it open. What is left out takes its default."""

    agent: str = ask(AGENT_NAME, "The agent.", positional=True)
    intent: bool = ask(
        rules.FLAG, "Let cue words of a question raise the kinds of memory they hint at.", _DEFAULT.intent
    )
    decay: bool | None = ask(
        OrNone(rules.FLAG),
        "Let old memories weigh less. When left out, each request decides.",
        _DEFAULT.decay,
    )
    half_life_days: int = ask(
        rules.Integer(1, 36_500),
        "With decay: after how many days old memories weigh less.",
        _DEFAULT.half_life_days,
    )
    decay_floor: float = ask(
        rules.Fraction(),
        "With decay: the share of its score that the oldest memory keeps.",
        _DEFAULT.decay_floor,
    )
    limit: int = ask(rules.Integer(1, limits.RECALL_LIMIT), "How many hits at most.", _DEFAULT.limit)
    conversation_places: int = ask(
        PLACES, "Places kept for its conversation's own memories.", _DEFAULT.conversation_places
    )
    tenant_places: int = ask(PLACES, "Places kept for the tenant's memories.", _DEFAULT.tenant_places)
    global_places: int = ask(PLACES, "Places kept for global memories.", _DEFAULT.global_places)
    max_tokens: int | None = ask(
        OrNone(rules.Integer(0, 10_000_000)),
        "How many tokens its hits may cost to read.",
        _DEFAULT.max_tokens,
    )
    expand: str | None = ask(ADVISED, f"Let an advisor put its questions in other words, too: {_WHOM}.", None)
    rerank: str | None = ask(ADVISED, f"Let an advisor put its best hits in order: {_WHOM}.", None)
    rerank_fine: str | None = ask(ADVISED, f"Let an advisor look again at the first of them: {_WHOM}.", None)
    rerank_when: RerankWhen | None = ask(
        OrNone(rules.Choice(RERANK_WHEN)),
        "When to ask for an order: always, or only if the relevance of the first hits does not decide it (close).",
        None,
    )
    auto_tag: str | None = ask(ADVISED, f"Let an advisor add tags to what it saves: {_WHOM}.", None)
    auto_supersede: str | None = ask(
        ADVISED, f"Let an advisor end what its saves directly contradict: {_WHOM}.", None
    )
    extract: str | None = ask(ADVISED, f"Let an advisor find the facts of its turns: {_WHOM}.", None)
    metadata: Mapping[str, Any] | None = ask(
        OrNone(rules.Json()), "Anything else that is kept with it, as a JSON object.", None
    )

    def faults(self, caller: Caller) -> Iterator[Fault]:
        yield from agent_faults(self.agent)


@dataclass(frozen=True, slots=True)
class ShowAgent(Request):
    """Show the settings of an agent that you use; without any, the defaults."""

    agent: str = ask(AGENT_NAME, "The agent.", positional=True)

    def faults(self, caller: Caller) -> Iterator[Fault]:
        yield from agent_faults(self.agent)


@dataclass(frozen=True, slots=True)
class _UserOfAgent(Request):
    """An agent and someone who is to use it, or no longer."""

    agent: str = ask(AGENT_NAME, "The agent.", positional=True)
    user: str = ask(rules.NAME, "The other user.", positional=True)

    def faults(self, caller: Caller) -> Iterator[Fault]:
        yield from agent_faults(self.agent)
        if self.agent in TENANTS_AGENTS:
            yield Fault("agent", "belongs to the whole tenant, so it cannot be shared")


@dataclass(frozen=True, slots=True)
class ShareAgent(_UserOfAgent):
    """Let someone use an agent that you use: they read and write its scratchpad and its settings."""


@dataclass(frozen=True, slots=True)
class UnshareAgent(_UserOfAgent):
    """Let someone no longer use an agent whose first user you are, or stop using one yourself.

    An admin who puts the only user out uses it then, and may share it.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedAgent(Answer):
    """Who uses an agent now; `changed` is false if it was so before."""

    agent: str
    users: tuple[str, ...]
    changed: bool


_NAMES: Final = tuple(each.name for each in fields(AgentSettings))


@operation("write", "memory.manage", "PUT /workspace/agents/{agent}", "agents set", begins=True)
def set_agent(call: Call, ask: SetAgent) -> ShownAgent:
    clean = cast(Mapping[str, Any], scrub_value("", ask.metadata or {})[0])
    settings = AgentSettings(**{name: getattr(ask, name) for name in _NAMES} | {"metadata": clean})
    with call.writing() as writing:
        use_agent(call.caller, writing.workspace, ask.agent)
        made = writing.workspace.set_agent(ask.agent, settings)
        writing.note("set_agent", ask.agent)
        return call.done(writing, made)


@operation("read", "memory.read", "GET /workspace/agents/{agent}", "agents show")
def show_agent(call: Call, ask: ShowAgent) -> ShownAgent:
    with call.reading() as reading:
        check_user(call.caller, reading.workspace, ask.agent)
        found = reading.workspace.agent(ask.agent)
        users = reading.workspace.users_of(ask.agent) if found is None else ()
    return found or ShownAgent(agent=ask.agent, settings=AgentSettings(), users=users)


def settings_of(call: Call, agent: str) -> AgentSettings:
    """How an agent is set, for a question of its user; those who do not use it get the defaults."""
    with call.reading() as reading:
        found = reading.workspace.agent(agent)
    return _DEFAULT if found is None or not _is_open(call.caller, found.users) else found.settings


def paying_agent(call: Call, agent: str | None) -> str | None:
    """The agent whose advisor budget a request uses: only users of an agent spend its budget."""
    if agent is None or not call.advisor.is_there:
        return agent
    with call.reading() as reading:
        return agent if _may_use(call.caller, reading.workspace, agent) else None


@operation("write", "memory.manage", "PUT /workspace/agent-users/{agent}", "agents share", begins=True)
def share_agent(call: Call, ask: ShareAgent) -> SharedAgent:
    call.caller.require_person("Sharing an agent")
    with call.writing() as writing:
        use_agent(call.caller, writing.workspace, ask.agent)
        changed = writing.workspace.share_agent(ask.agent, ask.user)
        return _shared(call, writing, ask, changed)


@operation("write", "memory.manage", "DELETE /workspace/agent-users/{agent}", "agents unshare")
def unshare_agent(call: Call, ask: UnshareAgent) -> SharedAgent:
    call.caller.require_person("Sharing an agent")
    with call.writing() as writing:
        check_user(call.caller, writing.workspace, ask.agent)
        users = writing.workspace.users_of(ask.agent)
        puts_out = ask.user != call.caller.user and not call.caller.is_admin
        if puts_out and users and users[0] != call.caller.user:
            raise Forbidden(
                f"Agent {ask.agent} was first used by {users[0]}: only they or an admin may remove other users; "
                "everyone may remove themselves."
            )
        if users == (ask.user,) and call.caller.is_admin and ask.user != call.caller.user:
            # Its notes must not become open to everyone: an admin who removes the only user becomes the user.
            writing.workspace.share_agent(ask.agent, call.caller.user)
        elif users == (ask.user,):
            raise Conflict(
                f"{ask.user} is the only one who uses agent {ask.agent}, which would then be open to everyone: share it "
                "with someone else first."
            )
        changed = writing.workspace.unshare_agent(ask.agent, ask.user)
        return _shared(call, writing, ask, changed)


def _shared(call: Call, writing: Writing, ask: ShareAgent | UnshareAgent, changed: bool) -> SharedAgent:
    if changed:
        name = "share_agent" if isinstance(ask, ShareAgent) else "unshare_agent"
        writing.note(name, f"{ask.agent} {ask.user}")
    users = writing.workspace.users_of(ask.agent)
    return call.done(writing, SharedAgent(agent=ask.agent, users=users, changed=changed))


def use_agent(caller: Caller, workspace: WritableWorkspace, agent: str) -> None:
    """The caller becomes the user of an agent that has no user yet; Forbidden if it belongs to others."""
    check_user(caller, workspace, agent)
    if agent not in TENANTS_AGENTS and not workspace.users_of(agent):
        workspace.share_agent(agent, caller.user)


def check_user(caller: Caller, workspace: Workspace, agent: str) -> None:
    """Forbidden unless the caller may use an agent."""
    if not _may_use(caller, workspace, agent):
        raise Forbidden(
            f"Agent {agent} is used by others: ask one of its users or an admin to share it with {caller.user}."
        )


def _may_use(caller: Caller, workspace: Workspace, agent: str) -> bool:
    if agent in TENANTS_AGENTS or caller.is_admin:
        return True
    users = workspace.users_of(agent)
    # Notes without users came with an import that does not name their users.
    return caller.user in users if users else not workspace.scratchpad_size(agent)


def _is_open(caller: Caller, users: Sequence[str]) -> bool:
    return caller.is_admin or not users or caller.user in users
