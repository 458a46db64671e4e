"""WHICH prompts does a person of the data platform know? One that says what is worth capturing, and one that captures it."""

from typing import Final

from onrecord.surfaces.mcp.prompts import Prompt

_RULES: Final = (
    "Worth capturing: a correction of a description or a definition, what a column or a term means in the business, a known "
    "flaw of the data, how tables are joined or used in practice, a link between data sets, and what the catalog lacks. "
    "Not worth it: results of a query, what is already in the catalog, guesses, personal data and secrets. "
    "Say one thing in each insight, in a sentence that stands alone; name the entity URNs that it is about, how sure it is, "
    "and who said so (source). Suggest a change of the catalog only if it follows from the insight. "
    "Ask memory_recall and recall_insight first, so that nothing is captured twice. "
    "An insight waits until a person has reviewed it: never say that it counts before then."
)
GUIDANCE: Final = Prompt(
    name="knowledge_capture_guidance",
    title="When to capture knowledge",
    description="What is worth capturing while working with data, and how.",
    permission="memory.manage",
    words_alone=f"While we work with this data, notice what is worth knowing later and use capture_insight for it. {_RULES}",
)
CAPTURE_THIS: Final = Prompt(
    name="capture-this-as-knowledge",
    title="Capture this as knowledge",
    description="Capture what was just found out, for review.",
    permission="memory.manage",
    argument="what",
    help="What to capture; left out, what was just found out.",
    words=f"Capture this with capture_insight, and tell me its id. {_RULES}\n\n{{0}}",
    words_alone=(
        "Look back at what we have just found out, say in a sentence what of it is worth keeping, and capture that with "
        f"capture_insight. Tell me its id, or that there is nothing to keep. {_RULES}"
    ),
)
