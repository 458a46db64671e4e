"""WHICH words carry no meaning in a question? English function and question words; "not" is kept."""

from typing import Final

STOP_WORDS: Final = frozenset(
    """
    a an the and or but if then else of to in on at by for with about from as into onto upon
    is are was were be been being am do does did doing done have has had having
    will would shall should can could may might must
    i you he she it we they me him her us them my your his its our their mine yours hers ours theirs
    myself yourself himself herself itself ourselves themselves
    this that these those here there
    what which who whom whose when where why how
    so than too very just also only own same such both each few more most other some any all
    again further once during before after above below between through up down out off over under
    because while until against
    tell told say said ask asked talk talked mention mentioned remember recall know
    please
    s t d ll m re ve don didn doesn isn aren wasn weren hasn haven hadn won wouldn shouldn couldn
    """.split()
)
