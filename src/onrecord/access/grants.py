"""WHICH systems may a caller use beyond its key? A file, a trusted proxy or a service knows.

Grants only add to what a key or token gives, and none of them comes from what a model sends.
"""

import json
import logging
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import Any, Final, Protocol, cast

import httpx2

from onrecord.access.fetching import NoAnswer, fetch_json
from onrecord.access.systems import Systems, read_systems
from onrecord.errors import Fault, Invalid, invalid
from onrecord.lru_cache import LruCache
from onrecord.model.caller import Caller
from onrecord.model.rules import GRANTED, NAME, anything
from onrecord.model.shapes import Kept, MapOf, Object, faults_at

Network = IPv4Network | IPv6Network

_log: Final = logging.getLogger("onrecord.access")
_NONE: Final[Systems] = MappingProxyType({})
_HEADER: Final = "header:"
_TIMEOUT_S: Final = 2.0
_MOST_CALLERS: Final = 10_000
#: How long an answer of the service counts, and how long it is not asked again after a failure.
_KEPT_S, _PAUSE_S = 30.0, 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestOrigin:
    """How a request came in: its headers by lower-case name, and the address of the other end of the connection."""

    headers: Mapping[str, str]
    peer: str | None


class Grants(Protocol):
    """Knows which systems a caller may read or manage. Threads share it."""

    def systems(self, caller: Caller, arrival: RequestOrigin) -> Systems:
        """What the caller is granted; nothing if that cannot be found out. It never raises."""

    def close(self) -> None: ...


def open_grants(setting: str | None, *, trusted_proxies: str | None = None) -> Grants:
    """The grants of a setting: the path of a file, `header:NAME`, or the URL of a service; without one there are
    none.
    """
    proxies = read_networks(trusted_proxies)
    if not setting:
        return NO_GRANTS
    if setting.startswith(_HEADER):
        return HeaderGrants(setting.removeprefix(_HEADER), proxies)
    if setting.startswith(("http://", "https://")):
        return ServiceGrants(setting)
    if "://" in setting:
        raise invalid("grants", f"must be a file, header:NAME or an http(s) address (got {setting!a})")
    return FileGrants(Path(setting).expanduser())


def read_networks(setting: str | None) -> tuple[Network, ...]:
    """Addresses and networks (10.0.0.0/8) from a text, separated by commas."""
    networks, faults = [], []
    for part in filter(None, (each.strip() for each in (setting or "").split(","))):
        try:
            networks.append(ip_network(part))
        except ValueError as problem:
            faults.append(Fault("trusted_proxies", f"{part!a} is not an address or a network: {problem}"))
    if faults:
        raise Invalid(faults)
    return tuple(networks)


class NoGrants:
    """A caller has what its key or token gives, and nothing more."""

    def systems(self, caller: Caller, arrival: RequestOrigin) -> Systems:
        return _NONE

    def close(self) -> None:
        pass


NO_GRANTS: Final = NoGrants()


class FileGrants:
    """A file, TOML or JSON: tenant, user, system, and `read` or `manage`. It is read again when it has changed.

    A file that is broken at the start is an error; one that breaks later leaves the earlier grants in force.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._stamp = _stamp(path)
        self._granted = _read_file(path)

    def systems(self, caller: Caller, arrival: RequestOrigin) -> Systems:
        if _stamp(self._path) != self._stamp:
            self._read_again()
        return self._granted.get(caller.tenant, {}).get(caller.user, _NONE)

    def close(self) -> None:
        pass

    def _read_again(self) -> None:
        with self._lock:
            stamp = _stamp(self._path)
            if stamp == self._stamp:
                return
            try:
                self._granted = _read_file(self._path)
            except Invalid as problem:
                _log.warning("The file of grants is broken, so the earlier grants stay in force: %s", problem)
            # Logged once for each state of the file, not for each request.
            self._stamp = stamp


class HeaderGrants:
    """A header that a trusted proxy sets, such as `crm, warehouse=manage`; from anyone else it is ignored."""

    def __init__(self, name: str, proxies: Sequence[Network]) -> None:
        if not name or not all(letter.isascii() and (letter.isalnum() or letter in "-_") for letter in name):
            raise invalid("grants", f"{_HEADER}{name} does not name a header; write e.g. header:X-Systems")
        if not proxies:
            raise invalid(
                "trusted_proxies", f"must say who may send the header {name}, e.g. 10.0.0.0/8; none is set"
            )
        self._name, self._proxies = name.lower(), tuple(proxies)

    def systems(self, caller: Caller, arrival: RequestOrigin) -> Systems:
        value = arrival.headers.get(self._name)
        if value is None or not self._trusts(arrival.peer):
            return _NONE
        systems, problems = read_systems(filter(None, (each.strip() for each in value.split(","))))
        for problem in problems:
            _log.warning("A system in the header %s was left out: it %s", self._name, problem)
        return systems

    def close(self) -> None:
        pass

    def _trusts(self, peer: str | None) -> bool:
        try:
            address = ip_address(peer or "")
        except ValueError:
            return False
        if isinstance(address, IPv6Address) and address.ipv4_mapped:
            address = address.ipv4_mapped
        return any(address in network for network in self._proxies)


@dataclass(frozen=True, slots=True)
class _CachedGrants:
    systems: Systems
    until: float


class ServiceGrants:
    """A service that is asked: POST {"tenant", "user"} returns {"systems": {name: "read" | "manage"}}.

    Its answer counts for a short while. Without an answer nothing is granted.
    """

    def __init__(
        self, url: str, *, timeout_s: float = _TIMEOUT_S, timer: Callable[[], float] = time.monotonic
    ) -> None:
        try:
            address = httpx2.URL(url)
        except httpx2.InvalidURL as problem:
            raise invalid("grants", f"{url!a} is not an address: {problem}") from None
        if not address.host:
            raise invalid("grants", f"{url!a} names no host")
        self._url, self._timer = address, timer
        self._client = httpx2.Client(timeout=timeout_s)
        self._answers: LruCache[tuple[str, str], _CachedGrants] = LruCache(_MOST_CALLERS)
        self._silent_until = 0.0

    def systems(self, caller: Caller, arrival: RequestOrigin) -> Systems:
        who, now = (caller.tenant, caller.user), self._timer()
        held = self._answers.get(who)
        if held is not None and now < held.until:
            return held.systems
        if now < self._silent_until:
            return _NONE
        answer = self._ask(who, now)
        self._answers.put(who, answer)
        return answer.systems

    def close(self) -> None:
        self._client.close()

    def _ask(self, who: tuple[str, str], now: float) -> _CachedGrants:
        try:
            answer = fetch_json(self._client, "POST", self._url, {"tenant": who[0], "user": who[1]})
            return _CachedGrants(_read_answer(answer), now + _KEPT_S)
        except NoAnswer as problem:
            _log.warning("No systems are granted, since %s did not say which: %s", self._url.host, problem)
            if not problem.reached:
                # The service cannot be reached, so other callers need not wait for it.
                self._silent_until = self._timer() + _PAUSE_S
        return _CachedGrants(_NONE, now + _PAUSE_S)


def _read_answer(answer: Any) -> Systems:
    try:
        return cast(Systems, _ANSWER(answer)["systems"])
    except ValueError as problem:
        raise NoAnswer(f"the answer cannot be read: {problem}", reached=True) from None


def _stamp(path: Path) -> tuple[int, ...]:
    """What changes whenever the file does; None if there is no file."""
    try:
        status = path.stat()
    except OSError:
        return ()
    return status.st_mtime_ns, status.st_size, status.st_ino


def _read_file(path: Path) -> dict[str, dict[str, Systems]]:
    try:
        text = path.read_text(encoding="utf-8")
        read = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except (OSError, ValueError, RecursionError) as problem:
        raise invalid(f"grants: {path}", f"cannot be read: {problem}") from None
    try:
        return cast(dict[str, dict[str, Systems]], _FILE(read))
    except ValueError as reason:
        place = f"grants: {path}"
        raise Invalid(
            Fault(f"{place}: {each.field}" if each.field else place, each.message)
            for each in faults_at("", reason)
        ) from None


_SYSTEMS: Final = MapOf("an object of systems, each with read or manage", Kept(NAME), GRANTED)
_FILE: Final = MapOf(
    "an object of tenants", anything, MapOf("an object of the tenant's users", anything, _SYSTEMS)
)
_ANSWER: Final = Object("an answer", {"systems": _SYSTEMS}, needed=("systems",), passes_over=True)
