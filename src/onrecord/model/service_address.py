"""WHERE is another system, and how do we log in? An address, a token, and how long to wait there."""

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from onrecord.errors import invalid


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceAddress:
    """Only the system itself ever sees the token; the address holds no secret, and may be shown."""

    url: str
    token: str | None = field(default=None, repr=False)
    timeout_s: float = 20.0


def read_address(name: str, url: str, token: str | None, timeout_s: int) -> ServiceAddress:
    """The address that a setting holds. It is not repeated in an error, since it may hold a password."""
    try:
        parts = urlsplit(url)
        is_whole = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_whole = False
    if not is_whole:
        raise invalid(name, "must be an address such as https://datahub.example:8080")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise invalid(name, "must be an address alone, without a user, a password or a query")
    if token is not None and not (token.isascii() and token.isprintable() and " " not in token):
        raise invalid(f"the token of {name}", "must be one word of plain letters, digits and signs")
    return ServiceAddress(url=url.rstrip("/"), token=token, timeout_s=timeout_s)
