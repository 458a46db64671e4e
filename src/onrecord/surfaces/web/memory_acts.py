"""HOW does a person change a memory? The forms on its page, each of which calls one operation."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from starlette.responses import Response

from onrecord.errors import VersionConflict, invalid
from onrecord.model.ids import exact_reference, exactly
from onrecord.model.memory import Memory
from onrecord.model.wire import write_instant
from onrecord.remember.revise import Revised
from onrecord.surfaces.web.page_view import Form, PageView, RefusedForm
from onrecord.surfaces.web.site import Act

#: The fields of a memory that its form shows, in this order.
FIELDS: Final = (
    *("content", "title", "hint", "kind", "dimension", "tags", "category", "confidence", "source"),
    *("entities", "query", "metadata", "artifact", "valid_from"),
)
#: The lists from which a memory is forgotten, and to which that leads back.
RETURNS: Final = {"mine": "/mine", "systems": "/mine/systems"}
_OF_CHECK: Final = (
    *("kind", "connection", "sql", "value", "tolerance", "columns", "min_rows", "max_rows"),
    *("entity", "type", "path", "sha256"),
)
DONE: Final = {
    "revised": "Saved. The text before is in its history.",
    "same": "Nothing was different, so nothing was saved.",
    "waits": "The present text is of a higher tier than yours: your change waits for a person, and this memory stays as it is.",
    "rejected": "The same was proposed and rejected before, and nothing is new: nothing was saved.",
    "verified": "Noted that it was checked today.",
    "retired": "Retired. It stays readable in the past.",
    "always": "From now on agents get it without asking.",
    "not_always": "From now on agents get it only when they ask.",
    "pinned": "Pinned to the conversation.",
    "unpinned": "Unpinned from the conversation.",
    "related": "Related.",
    "unrelated": "The relation was removed. The past still shows it.",
    "shared": "Whoever the new scope names sees it now, from this text on.",
    "remembered": "Saved.",
    "updated": "It was known already: this memory was updated.",
    "unchanged": "It was known already, word for word: nothing was saved.",
    "proposed": "Saved as a proposal, which waits for a person.",
    "check_added": "Added. It runs with the next sweep, or now with Run checks.",
    "check_waits": "Added as a proposal: it runs once a person who reviews has approved it.",
    "check_approved": "Approved: it runs from now on.",
    "check_dropped": "Dropped. Its results stay in the history.",
    "checked": "The checks have run; the results are below.",
}


def as_typed(memory: Memory) -> Mapping[str, str]:
    """The fields of a memory as its form shows them."""
    values: dict[str, str] = {}
    for name in FIELDS:
        value = getattr(memory, name)
        if isinstance(value, tuple):
            values[name] = "\n".join(value)
        elif name == "valid_from":
            values[name] = write_instant(value)
        elif name == "metadata" or isinstance(value, Mapping):
            values[name] = json.dumps(value, ensure_ascii=False, indent=2) if value else ""
        else:
            values[name] = value or ""
    return values


def as_typed_again(memory: Memory) -> Mapping[str, str]:
    """The same, for a form that says again what was said before: its references still mean the same."""
    return as_typed(replace(memory, entities=tuple(map(exact_reference, memory.entities))))


def revise(view: PageView, form: Form) -> Response:
    """Save what was changed in the form, and no field that was not."""
    id = view.path["id"]
    expected = view.fields("revise", form, "expected_version")
    base = _version(view, expected.get("expected_version"))
    changed = [name for name in FIELDS if form.has(name) and _typed(form, name) != as_typed(base)[name]]
    fields = view.fields("revise", form, *changed, "unknown", "what_is_new", "vouch")
    if "metadata" in changed and not _typed(form, "metadata").strip():
        fields["metadata"] = {}
    try:
        return _revised(view, view.door.revise(id, **expected, **fields), "revised")
    except VersionConflict as error:
        # Whoever typed sees what was saved meanwhile, and may save again on top of that.
        view.refused = RefusedForm(_on_top(form, base, view.door.show(id).memory), error)
        raise


def _version(view: PageView, number: object) -> Memory:
    """The memory as it was when the form was opened."""
    versions = view.door.history(view.path["id"]).versions
    return next((each.memory for each in versions if each.number == number), versions[-1].memory)


def _typed(form: Form, name: str) -> str:
    return form.one(name).replace("\r\n", "\n")


def _on_top(form: Form, base: Memory, present: Memory) -> Form:
    """The form with the present values of what was not changed in it, for the version that is there now."""
    before, now = as_typed(base), as_typed(present)
    untouched = {name: now[name] for name in FIELDS if form.has(name) and _typed(form, name) == before[name]}
    untouched["expected_version"] = str(present.version)
    return Form([(name, untouched.get(name, value)) for name, value in form.pairs])


def _revised(view: PageView, revised: Revised, done: str) -> Response:
    if revised.rejected:
        done = "rejected"
    elif revised.proposal is not None:
        done = "waits"
    elif not revised.changed:
        done = "same"
    return view.go("/memory/{}", revised.memory.id, done=done)


def verify(view: PageView, form: Form) -> Response:
    vouch = view.fields("revise", form, "vouch")
    revised = view.door.revise(view.path["id"], verified_at=view.door.now, **vouch)
    return _revised(view, revised, "verified")


def always(view: PageView, form: Form) -> Response:
    fields = view.fields("revise", form, "always_inject")
    done = "always" if fields.get("always_inject") else "not_always"
    return _revised(view, view.door.revise(view.path["id"], **fields), done)


def pin(view: PageView, form: Form) -> Response:
    fields = view.fields("revise", form, "conversation")
    done = "pinned" if fields.get("conversation") else "unpinned"
    return _revised(view, view.door.revise(view.path["id"], **fields), done)


def add_check(view: PageView, form: Form) -> Response:
    added = view.door.add_check(view.path["id"], **view.fields("add_check", form, *_OF_CHECK))
    return view.go("/memory/{}", added.memory.id, done="check_waits" if added.waits else "check_added")


def approve_check(view: PageView, form: Form) -> Response:
    approved = view.door.approve_check(view.path["id"], **view.fields("approve_check", form, "number"))
    return view.go("/memory/{}", approved.memory.id, done="check_approved")


def drop_check(view: PageView, form: Form) -> Response:
    left = view.door.drop_check(view.path["id"], **view.fields("drop_check", form, "number"))
    return view.go("/memory/{}", left.memory.id, done="check_dropped")


def check(view: PageView, form: Form) -> Response:
    view.door.check(view.path["id"])
    return view.go("/memory/{}", view.path["id"], done="checked")


def retire(view: PageView, form: Form) -> Response:
    retired = view.door.retire(view.path["id"], **view.fields("retire", form, "at", "reason", "what_is_new"))
    waits = "rejected" if retired.rejected else "waits" if retired.proposal else "retired"
    return view.go("/memory/{}", retired.memory.id, done=waits)


def relate(view: PageView, form: Form) -> Response:
    fields = view.fields("relate", form, "relation", "target")
    related = view.door.relate(view.path["id"], **fields)
    return view.go("/memory/{}", related.relation.source, done="related")


def unrelate(view: PageView, form: Form) -> Response:
    view.door.unrelate(**view.fields("unrelate", form, "source", "relation", "target"))
    return view.go("/memory/{}", view.path["id"], done="unrelated")


def share(view: PageView, form: Form) -> Response:
    """Save the same text under another scope."""
    before = view.door.show(view.path["id"]).memory
    fields = view.fields("remember", form, "scope", "persona", "system")
    saved = view.door.remember(before.content, id=exactly(before.id), **fields)
    done = "shared" if saved.outcome == "updated" else saved.outcome
    return view.go("/memory/{}", before.id, done=done)


def try_forgetting(view: PageView, form: Form) -> Response:
    """Say what would be erased, and ask a person."""
    view.door.caller.require_person("Erasing a memory on this page")
    shown = view.door.show(view.path["id"])
    gone = view.door.forget(view.path["id"], dry_run=True)
    return view.html("forget.html", memory=shown.memory, gone=gone, back=_back(form))


def forget(view: PageView, form: Form) -> Response:
    view.door.caller.require_person("Erasing a memory on this page")
    if form.one("sure") != "yes":
        raise invalid("sure", "tick the box to erase the memory for good")
    gone = view.door.forget(view.path["id"])
    if gone.proposal is not None or gone.rejected:
        return view.go("/memory/{}", gone.id, done="rejected" if gone.rejected else "waits")
    return view.go(RETURNS.get(_back(form), "/memory"), done="forgotten")


def _back(form: Form) -> str:
    return form.one("back") if form.one("back") in RETURNS else ""


ACTS: Final[Mapping[str, Act]] = {
    each.__name__: each
    for each in (
        *(revise, verify, always, pin, retire, relate, unrelate, share, try_forgetting, forget),
        *(add_check, approve_check, drop_check, check),
    )
}
