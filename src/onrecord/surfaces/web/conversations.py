"""WHAT was said and kept in a conversation? Its turns, members, memories and artifacts; and the scratchpads of agents."""

from typing import Final

from starlette.responses import Response

from onrecord.surfaces.web.page_view import Form, PageView
from onrecord.surfaces.web.site import Page
from onrecord.workspace.artifacts import ArtifactContent

_AT_ONCE: Final = 50
#: Pictures that a browser draws without running anything. SVG may hold scripts, so it is downloaded.
_PICTURES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"})
_TEXTS: Final = ("text/", "application/json", "application/yaml", "application/xml", "application/sql")
_MOST_SHOWN: Final = 64 * 1024


def conversations(view: PageView) -> Response:
    fields = view.fields("conversations", view.query, "agent", "name", "after")
    found = view.door.conversations(**fields, limit=_AT_ONCE)
    return view.html("conversations.html", found=found, scratchpads=view.door.scratchpads().scratchpads)


def conversation(view: PageView) -> Response:
    id = view.path["id"]
    shown = view.door.show_conversation(id)
    caller = view.door.caller
    may = view.may("memory.manage") and not view.is_past
    leads = may and (caller.is_admin or caller.user == shown.conversation.created_by)
    return view.html(
        "conversation.html",
        id=id,
        shown=shown,
        deletes=leads,
        shares=leads and caller.actor == "person",
        leaves=may and caller.actor == "person",
        conversation=shown.conversation,
        turns=view.door.turns(conversation=id).turns,
        artifacts=view.door.artifacts(conversation=id).artifacts,
        memories=view.door.browse(conversation=id, limit=_AT_ONCE, **view.times),
    )


def share(view: PageView, form: Form) -> Response:
    view.door.share_conversation(view.path["id"], form.one("user"))
    return view.go("/conversation/{}", view.path["id"], done="shared")


def unshare(view: PageView, form: Form) -> Response:
    view.door.unshare_conversation(view.path["id"], form.one("user"))
    left = form.one("user") == view.door.caller.user
    return view.go("/conversation") if left else view.go("/conversation/{}", view.path["id"], done="unshared")


def delete(view: PageView, form: Form) -> Response:
    view.door.delete_conversation(view.path["id"])
    return view.go("/conversation", done="deleted")


def artifact(view: PageView) -> Response:
    """An artifact that can be shown safely; anything else is offered as a download."""
    found = _read(view)
    kind = found.artifact.media_type.split(";")[0].strip().lower()
    is_text = found.encoding == "text" and (kind.startswith(_TEXTS) or kind == "application/octet-stream")
    return view.html(
        "artifact.html",
        artifact=found.artifact,
        picture=kind in _PICTURES,
        text=found.content[:_MOST_SHOWN] if is_text else None,
        is_cut=is_text and len(found.content) > _MOST_SHOWN,
        via=view.query.one("via") or None,
    )


def delete_artifact(view: PageView, form: Form) -> Response:
    deleted = view.door.delete_artifact(view.path["id"])
    return view.go("/conversation/{}", deleted.artifact.conversation, done="artifact")


def raw_artifact(view: PageView) -> Response:
    """The bytes of an artifact. Only pictures are shown in place, and nothing in them runs."""
    found = _read(view)
    kind = found.artifact.media_type.split(";")[0].strip().lower()
    is_picture = kind in _PICTURES
    response = Response(found.raw, media_type=kind if is_picture else "application/octet-stream")
    response.headers["content-security-policy"] = "default-src 'none'; sandbox"
    response.headers["content-disposition"] = "inline" if is_picture else "attachment"
    return response


def scratchpad(view: PageView) -> Response:
    return view.html("scratchpad.html", pad=view.door.read_scratchpad(view.path["agent"]))


def append(view: PageView, form: Form) -> Response:
    view.door.append_scratchpad(form.one("content"), agent=view.path["agent"])
    return view.go("/scratchpad/{}", view.path["agent"], done="added")


def clear(view: PageView, form: Form) -> Response:
    view.door.clear_scratchpad(view.path["agent"])
    return view.go("/scratchpad/{}", view.path["agent"], done="cleared")


def _read(view: PageView) -> ArtifactContent:
    number, via = view.path["id"], view.query.one("via")
    if not via:
        return view.door.read_artifact(number)
    return view.by_address(via, lambda id: view.door.read_artifact(number, via=id))


PAGES = (
    Page(
        path="/conversation",
        show=conversations,
        menu="Conversations",
        done={"deleted": "The conversation and its artifacts are deleted."},
    ),
    Page(
        path="/conversation/{id:path}",
        show=conversation,
        acts={"share": share, "unshare": unshare, "delete": delete},
        done={
            "shared": "They are in this conversation now.",
            "unshared": "They are no longer in this conversation.",
            "artifact": "The artifact is deleted.",
        },
    ),
    Page(path="/artifact/{id}", show=artifact, acts={"delete": delete_artifact}, part_of="/conversation"),
    Page(path="/artifact/{id}/raw", show=raw_artifact),
    Page(
        path="/scratchpad/{agent:path}",
        show=scratchpad,
        acts={"append": append, "clear": clear},
        done={"added": "Added.", "cleared": "The scratchpad is empty now."},
    ),
)
