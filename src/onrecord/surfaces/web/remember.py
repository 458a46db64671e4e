"""WHAT is worth knowing later? A form that saves a memory, and says first what it would save."""

from typing import Any, Final

from starlette.responses import Response

from onrecord.model.limits import CONFIDENCES, KINDS, SCOPES
from onrecord.remember.remember import Remembered
from onrecord.surfaces.web.memory_acts import FIELDS, as_typed_again
from onrecord.surfaces.web.page_view import Form, PageView
from onrecord.surfaces.web.site import Page

_FIELDS: Final = (
    *("id", "content", "title", "hint", "kind", "tags", "category", "confidence", "source", "entities"),
    *("query", "scope", "persona", "system", "conversation", "valid_from", "supersedes", "always_inject"),
    *("review", "what_is_new", "unknown"),
)
_CHOICES: Final = {"kind": ("", *KINDS), "scope": ("", *SCOPES), "confidence": ("", *CONFIDENCES)}


def remember(view: PageView) -> Response:
    return _form(view, None)


def _form(view: PageView, tried: Remembered | None) -> Response:
    """The form; filled with an older memory if one is to be said again."""
    again = view.query.one("again")
    typed = dict.fromkeys(FIELDS, "")
    if again:
        typed |= as_typed_again(view.by_address(again, view.door.show).memory)
    typed["entities"] = "\n".join(view.query.all("entities")) or typed["entities"]
    # Since when it is true, is said anew.
    typed["valid_from"] = ""
    return view.html("remember.html", typed=typed, tried=tried, choices=_CHOICES, again=again)


def try_saving(view: PageView, form: Form) -> Response:
    """Say what would be saved; the form stays as it was typed."""
    tried = view.door.remember(**_given(view, form), dry_run=True)
    view.typed = form
    return _form(view, tried)


def save(view: PageView, form: Form) -> Response:
    saved = view.door.remember(**_given(view, form))
    done = "remembered" if saved.outcome == "created" else saved.outcome
    return view.go("/memory/{}", saved.memory.id, done=done)


def _given(view: PageView, form: Form) -> dict[str, Any]:
    """The fields that were filled in; what is empty in a new memory was left out."""
    filled = Form([(name, value) for name, value in form.pairs if value.strip() or name == "content"])
    return view.fields("remember", filled, *_FIELDS)


PAGES = (
    Page(
        path="/memory/new",
        show=remember,
        acts={"save": save, "try_saving": try_saving},
        menu="Remember",
        permission="memory.manage",
    ),
)
