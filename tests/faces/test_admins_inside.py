"""WHAT does an admin find in a conversation of another, where a face shows only what is meant for its user?"""

from collections.abc import Iterator

import pytest

from onrecord import Caller, OnRecord, connect
from onrecord.faces.checkstack import memories as checkstack
from onrecord.faces.datamind import asking as datamind

TALK = "~ann/talk"


@pytest.fixture
def admin() -> Iterator[OnRecord]:
    """An admin in no conversation, where ann keeps something in two of hers."""
    root = Caller(tenant="acme", user="root", permissions=frozenset({"memory.admin"}))
    with connect(":memory:", caller=root) as door:
        for name in ("talk", "other"):
            ann = Caller(tenant="acme", user="ann", conversation=name)
            door.as_caller(ann).remember(f"quince in {name}", scope="session")
        yield door


def test_an_admin_recalls_what_they_save_in_a_session_of_another_and_nothing_of_the_rest(
    admin: OnRecord,
) -> None:
    datamind.save(admin, "quince of the admin", "session", session_id=TALK)
    for door, session in ((admin, TALK), (admin.as_caller(admin.caller.inside(TALK)), None)):
        found = datamind.recall(door, "quince", session_id=session)
        assert {item.content for item in found} == {"quince in talk", "quince of the admin"}
    assert datamind.recall(admin, "quince") == []
    assert datamind.recall(admin, "quince", session_id="talk") == []


def test_an_admin_saves_a_preference_from_a_conversation_of_another(admin: OnRecord) -> None:
    inside = admin.as_caller(admin.caller.inside(TALK))
    checkstack.save_memory(inside, "user", "when quince", "in jars")
    (saved,) = checkstack.list_memories(admin)["memories"]
    assert saved["sourceConversationId"] == TALK


def test_an_admin_is_told_what_belongs_to_what_a_tool_named_in_a_conversation_of_another(
    admin: OnRecord,
) -> None:
    ann = admin.as_caller(Caller(tenant="acme", user="ann", conversation="talk"))
    ann.remember("quinces are counted in jars", scope="session", entities=["warehouse.public.quinces"])
    named = "SELECT count(*) FROM warehouse.public.quinces"
    assert len(admin.as_caller(admin.caller.inside(TALK)).attach(named).memories) == 1
    assert admin.attach(named).memories == ()
