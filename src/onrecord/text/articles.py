"""MAY an article be missing? "Orders table" says what "the orders table" says; "few stores" and "a few stores" differ.

An article may be missing only where the words beside it leave no doubt that it is one and says nothing by itself. It says
something before a quantity ("the two"), after a verb of being ("is the owner"), after "and" ("the owner and the manager" are
two), and in many phrases of a preposition and one noun ("in charge of", "in the charge of").
"""

from collections.abc import Sequence
from typing import Final

ARTICLES: Final = frozenset({"a", "an", "the"})
_PREPOSITIONS: Final = frozenset(
    "about above across after against along among around as at before behind below beside between beyond by down during except "
    "for from in into like near of off on out over past per plus since through till toward towards under until up upon "
    "versus via with within without".split()
)
#: An article after one of these says something, or the word after it is no noun.
_NOT_AFTER: Final = frozenset(
    "all and any are be been being both but can could did do does double each either had half has have is many may might most "
    "must neither never no none nor not one only or shall should some such than to twice was were will would & +".split()
)
_QUANTITIES: Final = frozenset(
    "best better bit both billion couple dozen earlier earliest eight eighth eleven entire few fewer fewest fifth five former "
    "four fourth great half higher highest hundred last later latest latter least less little lot lots lower lowest majority "
    "many million minority more most next nine ninth number numbers one ones only other others pair previous quarter rest "
    "same second seven seventh six sixth sole ten tenth third thirds thousand three twelve two very whole worse "
    "worst".split()
)
_OWNERS: Final = frozenset("her his its my our their your".split())
#: "Give the dog food" is not "give dog food".
_GIVING: Final = frozenset(
    "bring brings brought buy buys bought feed feeds fed gave give given gives giving grant granted grants hand handed hands lend "
    "lends lent offer offered offers paid pay pays sell sells send sends sent show showed shown shows sold taught teach "
    "teaches tell tells told".split()
)
_NEVER_AFTER: Final = _NOT_AFTER | _QUANTITIES | _OWNERS | _GIVING | ARTICLES
#: Words that end what an article could begin.
_NO_NOUN: Final = (
    frozenset(
        "also always even he how i if it just she so that then there these they this those we what when where which "
        "while who whose why you".split()
    )
    | _PREPOSITIONS
    | (_NEVER_AFTER - _GIVING)
)
#: With these, a phrase without an article says something else: on call, in order, out of question, take part.
_IN_PHRASES: Final = frozenset(
    "account action advance air all arms base bed board body book call care case cause chance charge church class college "
    "common control cost court credit custody danger date day deck default demand detail duty effect end error fact favor "
    "favour fire first foot force front full ground hand hands heart hire hold home hospital hour issue jail keeping leave "
    "length light line loan location lunch margin mass mean means memory mind name need night notice office order paper part "
    "person place plan point position possession power practice press principle print prison private process public "
    "purpose question rank record reserve rest return risk road sale school sea season service shape share shift ship sight "
    "site stage standby stock store suit table tax term terms theory time town track trial trust turn use value view wait "
    "watch water way week work year".split()
)


def may_be_missing(words: Sequence[str], at: int, *, begins: bool) -> bool:
    """Whether the word at this place is an article that says nothing; it may begin a sentence."""
    article, before, after = words[at], words[at - 1].lower() if at else "", words[at + 1 : at + 3]
    if article not in ARTICLES or not after or not _is_nounlike(after[0]):
        return False
    starts_long = len(after) > 1 and _is_nounlike(after[1]) and after[0][-1].isalnum()
    if article != "the":
        # "Group a gets" it: a letter may be a name.
        sounds = (after[0][0].lower() in "aeiou") == (article == "an")
        return sounds and starts_long and not after[0].endswith("s") and (begins or before in _PREPOSITIONS)
    if begins:
        return True
    if before in _NEVER_AFTER or before[:1].isdigit() or before.endswith(("'s", "s'")):
        return False
    if after[0].strip(".,;:").lower() in _IN_PHRASES:
        return starts_long and before not in _PREPOSITIONS
    return starts_long or before not in _PREPOSITIONS


def _is_nounlike(word: str) -> bool:
    """A word that may begin what an article stands before: no number, no quantity, nothing in brackets."""
    plain = word.strip('".,;:')
    return len(plain) > 1 and plain[0].isalpha() and plain.lower() not in _NO_NOUN and word[0] not in ".,;:"
