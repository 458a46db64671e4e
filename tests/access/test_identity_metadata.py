"""WHERE does a client get a token? What the resource says of itself, and where that is found."""

import pytest

from onrecord.access.resource_metadata import challenge, metadata_path, metadata_url, resource_metadata


def test_the_document_names_the_resource_its_issuer_and_its_scopes() -> None:
    assert resource_metadata("https://memory.example.com/mcp", "https://id.example.com") == {
        "resource": "https://memory.example.com/mcp",
        "authorization_servers": ["https://id.example.com"],
        "bearer_methods_supported": ["header"],
        "scopes_supported": ["memory.read", "memory.manage", "memory.review", "memory.admin"],
        "resource_name": "OnRecord",
    }


def test_where_only_keys_are_taken_no_issuer_is_named() -> None:
    assert "authorization_servers" not in resource_metadata("https://memory.example.com/mcp", None)


@pytest.mark.parametrize(
    ("resource", "url"),
    [
        (
            "https://memory.example.com/mcp",
            "https://memory.example.com/.well-known/oauth-protected-resource/mcp",
        ),
        (
            "http://127.0.0.1:8080/mcp/slayer",
            "http://127.0.0.1:8080/.well-known/oauth-protected-resource/mcp/slayer",
        ),
        ("https://memory.example.com/", "https://memory.example.com/.well-known/oauth-protected-resource"),
    ],
)
def test_the_path_of_the_resource_stands_behind_the_well_known_one(resource: str, url: str) -> None:
    assert metadata_url(resource) == url
    assert url.endswith(metadata_path(resource))


def test_a_challenge_says_where_to_read_on_and_what_was_wrong() -> None:
    assert challenge() == 'Bearer realm="onrecord"'
    assert challenge("https://m/x", error="insufficient_scope", scope="memory.admin") == (
        'Bearer realm="onrecord", error="insufficient_scope", scope="memory.admin", resource_metadata="https://m/x"'
    )
