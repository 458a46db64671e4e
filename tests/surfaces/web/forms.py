"""Forms without a browser: a page is read, one of its forms is filled in and sent, as browsers without scripts do."""

import re
from html import unescape
from typing import Any

import httpx2

from onrecord import OnRecord
from onrecord.operation import StorePolicy
from tests.surfaces.conftest import Served

_TOKEN = re.compile(r'name="form_token" value="([0-9a-f]{64})"')
_ACT = re.compile(r'name="act" value="([a-z_]+)"')
_TAG = re.compile(r"<[^>]*>")


def acts_on(page: str) -> set[str]:
    """The forms that a page shows."""
    return set(_ACT.findall(page))


def send(client: httpx2.Client, path: str, act: str | list[str], /, **fields: Any) -> httpx2.Response:
    """Open the page, and send one of its forms, whether it shows it or not; the answer is not followed. A button may name an
    act after that of its form.
    """
    token = _TOKEN.search(client.get(path).text)
    if token is None:
        # Whoever sees no form on this page sees one where they may save, or none at all.
        token = _TOKEN.search(client.get("/memory/new").text)
    proof = {} if token is None else {"form_token": token[1]}
    return client.post(path, data={"act": act, **proof, **fields})


def text_of(page: str) -> str:
    """The words of a page, without its markup."""
    return " ".join(unescape(_TAG.sub(" ", page)).split())


def at_the_machine(server: Served) -> OnRecord:
    """The store of a server as its operator has it at the shell, where any source can be read."""
    return server.parts.door.as_caller(server.parts.door.caller, StorePolicy())
