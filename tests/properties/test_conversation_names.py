"""Does every conversation have one name for each user, which means it and nothing else?"""

from hypothesis import given
from hypothesis import strategies as st

from onrecord.model import ids
from onrecord.model.conversation_names import CONVERSATION, called, explicit, key_of
from onrecord.model.rules import NAME
from onrecord.model.workspace import ConversationKey


def is_name(text: str) -> bool:
    try:
        return NAME(text) == text
    except ValueError:
        return False


#: With what could be mistaken for the form itself.
names = (st.text("~/01#aß ", min_size=1, max_size=6) | st.text(min_size=1, max_size=6)).filter(is_name)
keys = st.builds(ConversationKey, names, names.filter(lambda name: ids.plain_conversation(name) == name))


@given(key=keys, user=names)
def test_what_a_user_calls_a_conversation_means_it(key: ConversationKey, user: str) -> None:
    for name in (called(key, user), explicit(key)):
        assert CONVERSATION(name) == name
        assert key_of(name, user) == key


@given(key=keys, user=names)
def test_a_name_that_says_nothing_of_an_owner_means_ones_own(key: ConversationKey, user: str) -> None:
    assert called(key, user).startswith("~") == (key.by != user or key.id.startswith("~"))
    assert key_of(key.id, user).by == user or key.id.startswith("~")


@given(one=keys, other=keys)
def test_two_conversations_have_two_names(one: ConversationKey, other: ConversationKey) -> None:
    assert (explicit(one) == explicit(other)) == (one == other)


def test_the_longest_names_have_room() -> None:
    assert CONVERSATION(explicit(ConversationKey("~" * 200, "n" * 200))) == "~" + "~0" * 200 + "/" + "n" * 200
