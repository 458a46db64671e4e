"""HOW does a program reach a store elsewhere? The doors of `onrecord`, over HTTP: one import changes where the store is.

from onrecord.client import connect

with connect("http://127.0.0.1:8321", key="onr_…") as memory:
    memory.remember("Revenue is net of refunds.")
"""

try:
    from onrecord.client.clients import AsyncClient, Client, connect, connect_async
except ModuleNotFoundError as missing:
    if missing.name != "httpx2":
        raise
    raise ModuleNotFoundError(
        "The client needs one more package: pip install 'onrecord[client]'.", name="httpx2"
    ) from None

__all__ = ["AsyncClient", "Client", "connect", "connect_async"]
