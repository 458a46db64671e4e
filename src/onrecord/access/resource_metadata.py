"""WHERE does a client get a token for us? What a protected resource publishes about itself (RFC 9728, RFC 6750)."""

from collections.abc import Mapping
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from onrecord.model.limits import TENANT_PERMISSIONS

BearerError = Literal["invalid_token", "insufficient_scope"]

WELL_KNOWN: Final = "/.well-known/oauth-protected-resource"


def resource_metadata(resource: str, issuer: str | None) -> Mapping[str, Any]:
    """The document about a resource, e.g. `https://memory.example.com/mcp`, whose tokens come from this issuer."""
    servers = {} if issuer is None else {"authorization_servers": [issuer]}
    return {
        "resource": resource,
        **servers,
        "bearer_methods_supported": ["header"],
        "scopes_supported": list(TENANT_PERMISSIONS),
        "resource_name": "OnRecord",
    }


def metadata_path(resource: str) -> str:
    """The path of the document: the path of the resource after the well-known one."""
    return WELL_KNOWN + urlsplit(resource).path.rstrip("/")


def metadata_url(resource: str) -> str:
    """The same, with the host."""
    there = urlsplit(resource)
    return f"{there.scheme}://{there.netloc}{metadata_path(resource)}"


def challenge(
    metadata: str | None = None, *, error: BearerError | None = None, scope: str | None = None
) -> str:
    """The value of `WWW-Authenticate`: where to read on, what is wrong with a given key or token, and which
    permission is needed.
    """
    parameters = {"realm": "onrecord", "error": error, "scope": scope, "resource_metadata": metadata}
    return "Bearer " + ", ".join(
        f'{name}="{value}"' for name, value in parameters.items() if value is not None
    )
