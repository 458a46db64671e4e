"""HOW do people look at what is known? Pages at `/`, made on the server from the same operations as everything else."""

from collections.abc import Mapping, Sequence

from starlette.routing import BaseRoute

from onrecord.config import Config
from onrecord.surfaces.mcp.tools import Tool
from onrecord.surfaces.recent_requests import RecentRequests
from onrecord.surfaces.rest.request_runner import RequestRunner
from onrecord.surfaces.web import (
    agent_context,
    ask,
    catalog,
    catalog_changes,
    changesets,
    compare,
    confirm,
    connect,
    conversations,
    embed,
    graph,
    memories,
    memory,
    mine,
    operate,
    remember,
    review,
    sign_in,
)
from onrecord.surfaces.web.callers import ByCookie, ByLink
from onrecord.surfaces.web.sign_in import ComingIn
from onrecord.surfaces.web.site import open_pages, shipped_files, show_to_browsers

__all__ = ["EMBEDDED", "PAGES", "routes", "show_to_browsers"]
#: In the order of the navigation.
PAGES = (
    *ask.PAGES,
    *memories.PAGES,
    *remember.PAGES,
    *memory.PAGES,
    *compare.PAGES,
    *review.PAGES,
    *changesets.PAGES,
    *catalog.PAGES,
    *catalog_changes.PAGES,
    *graph.PAGES,
    *mine.PAGES,
    *conversations.PAGES,
    *agent_context.PAGES,
)
#: What pages of other systems may show in a frame of theirs, under a link that their backend has signed.
EMBEDDED = embed.PAGES


def routes(
    runner: RequestRunner,
    coming: ComingIn,
    faces: Mapping[str, Sequence[Tool]],
    recent: RecentRequests,
    config: Config,
) -> list[BaseRoute]:
    """Every page, and the files that pages load; agents' tools are those of the faces."""
    signed_in = runner.asked_by(ByCookie(runner.authenticator))
    own = (sign_in.sign_out_page(runner), confirm.page(runner, faces))
    return [
        shipped_files(),
        *sign_in.routes(runner, coming),
        *open_pages((*PAGES, *operate.pages(recent), *connect.pages(config, coming), *own), signed_in),
        *open_pages(EMBEDDED, runner.asked_by(ByLink(runner)), framed_by=coming.embed_origins),
    ]
