"""HOW is the store doing, and who may use it? Status, figures, keys, tenants, the audit, and what mends."""

import json
import tempfile
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any, Final

from starlette.responses import Response

from onrecord.model.ledger import Key
from onrecord.model.limits import ACTORS, AUDIT_OUTCOMES, TENANT_PERMISSIONS
from onrecord.surfaces.recent_requests import EVERY_S, Interval, RecentRequests
from onrecord.surfaces.web.page_view import Form, PageView
from onrecord.surfaces.web.site import Page

_PERMISSION: Final = "memory.admin"
_SLOWEST: Final = 20
_AUDIT: Final = ("user", "subject", "outcome", "since", "after")
_KEY_FIELDS: Final = (
    "label",
    "personas",
    "permissions",
    "systems",
    "expires_at",
    "per_minute",
    "saves_per_day",
)


def pages(recent: RecentRequests) -> tuple[Page, ...]:
    """The pages of whoever looks after the store; `recent` is what this server has just answered."""
    return (
        Page(
            path="/operate",
            show=partial(_status, recent),
            acts={"doctor": _doctor, "reindex": _reindex, "embed": _embed, "dismiss": _dismiss},
            menu="Operate",
            permission=_PERMISSION,
            done={
                "reindexed": "Everything derived from the rows was rebuilt.",
                "embedded": "Missing vectors were made.",
                "dismissed": "The jobs that were given up are dismissed.",
            },
        ),
        Page(path="/operate/export", show=_nothing, acts={"export": _export}, permission=_PERMISSION),
        Page(
            path="/operate/keys",
            show=_keys,
            acts={"create": _create_key, "change": _change_key, "revoke": _revoke_key},
            permission=_PERMISSION,
            done={"changed": "The key is changed.", "revoked": "The key is revoked and no longer works."},
            changes_keys=True,
        ),
        Page(
            path="/operate/tenants",
            show=_tenants,
            acts={"create": _create_tenant, "set": _set_tenant, "erase": _erase_tenant},
            permission=_PERMISSION,
            done={
                "created": "The tenant exists now.",
                "set": "The settings are changed.",
                "erased": "The tenant and everything in it is erased.",
            },
            changes_keys=True,
        ),
        Page(path="/operate/audit", show=_audit, permission=_PERMISSION),
    )


def _status(recent: RecentRequests, view: PageView, **found: Any) -> Response:
    return view.html(
        "operate.html",
        state=view.door.status(),
        charts=list(_charts(recent.intervals())),
        slowest=recent.slowest(view.door.caller.tenant, _SLOWEST),
        examined=found.get("examined"),
    )


def _charts(intervals: Iterable[Interval]) -> Iterable[tuple[str, str]]:
    """A title and the data of each chart, as the picture reads them."""
    there = list(intervals)
    times = [each.since for each in there]
    figures: dict[str, list[float]] = {
        "Requests a second": [each.requests / EVERY_S for each in there],
        "Average time in ms": [1_000 * each.seconds / each.requests for each in there],
        "Longest time in ms": [1_000 * each.longest for each in there],
        "Failed requests": [each.failed for each in there],
    }
    for title, values in figures.items():
        yield title, json.dumps({"times": times, "values": [round(value, 3) for value in values]})


def _doctor(view: PageView, form: Form) -> Response:
    examined = view.door.doctor(**view.fields("doctor", form, "fix"))
    return view.html("examined.html", examined=examined)


def _reindex(view: PageView, form: Form) -> Response:
    view.door.reindex()
    return view.go("/operate", done="reindexed")


def _embed(view: PageView, form: Form) -> Response:
    view.door.embed_missing()
    return view.go("/operate", done="embedded")


def _dismiss(view: PageView, form: Form) -> Response:
    view.door.dismiss_failures(**view.fields("dismiss_failures", form, "name"))
    return view.go("/operate", done="dismissed")


def _nothing(view: PageView) -> Response:
    return view.go("/operate")


def _export(view: PageView, form: Form) -> Response:
    """Everything of the tenant as one file, which `import` reads on any store."""
    with tempfile.TemporaryDirectory(prefix="onrecord-export-") as folder:
        file = Path(folder, "export.jsonl")
        view.door.export(str(file))
        response = Response(file.read_bytes(), media_type="application/x-ndjson")
    response.headers["content-disposition"] = 'attachment; filename="onrecord-export.jsonl"'
    return response


def _keys(view: PageView, **shown: Any) -> Response:
    keys = sorted(view.door.list_keys().keys, key=lambda key: (key.revoked_at is not None, key.created_at))
    chosen = view.query.one("key") or (view.refused.form.one("id") if view.refused else "")
    return view.html(
        "operate_keys.html",
        keys=keys,
        chosen=next((key for key in keys if key.id == chosen), None),
        created=shown.get("created"),
        permissions=TENANT_PERMISSIONS,
        actors=ACTORS,
        grants=_grants,
    )


def _grants(key: Key) -> str:
    return "\n".join(f"{name}=manage" if grant == "manage" else name for name, grant in key.systems.items())


def _create_key(view: PageView, form: Form) -> Response:
    fields = view.fields("create_key", form, "user", "actor", *_KEY_FIELDS)
    # Shown here and nowhere else, so this page is not led on.
    return _keys(view, created=view.door.create_key(**fields))


def _change_key(view: PageView, form: Form) -> Response:
    view.door.change_key(form.one("id"), **view.fields("change_key", form, *_KEY_FIELDS))
    return view.go("/operate/keys", done="changed")


def _revoke_key(view: PageView, form: Form) -> Response:
    view.door.revoke_key(form.one("id"))
    return view.go("/operate/keys", done="revoked")


def _tenants(view: PageView) -> Response:
    found = view.door.list_tenants().tenants
    own = next((each for each in found if each.name == view.door.caller.tenant), None)
    return view.html("operate_tenants.html", tenants=found, own=own)


def _create_tenant(view: PageView, form: Form) -> Response:
    view.door.create_tenant(form.one("name"))
    return view.go("/operate/tenants", done="created")


def _set_tenant(view: PageView, form: Form) -> Response:
    view.door.set_tenant(
        **view.fields("set_tenant", form, "agents_share", "members_retire", "keep_questions")
    )
    return view.go("/operate/tenants", done="set")


def _erase_tenant(view: PageView, form: Form) -> Response:
    view.door.erase_tenant(form.one("name"), confirm=form.one("confirm"))
    return view.go("/operate/tenants", done="erased")


def _audit(view: PageView) -> Response:
    found = view.attempt(lambda: view.door.audit(**view.fields("audit", view.query, *_AUDIT)))
    return view.html("operate_audit.html", found=found, outcomes=AUDIT_OUTCOMES)
