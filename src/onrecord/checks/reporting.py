"""HOW does a machine that builds software read what checks said? As JUnit XML: a test case for each memory."""

from collections.abc import Sequence
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, indent, tostring

if TYPE_CHECKING:
    from onrecord.checks.checking import CheckedMemory
    from onrecord.checks.queries import QueryFit


def junit(memories: "Sequence[CheckedMemory]", queries: "Sequence[QueryFit]") -> str:
    """Failed checks and queries that do not fit are failures; what nobody could look at was skipped."""
    suite = Element("testsuite", name="onrecord check")
    failures = skipped = 0
    for memory in memories:
        for each in memory.outcomes:
            case = _case(suite, f"check {each.number} of #{memory.memory}", memory.title, each.ms)
            if each.state == "failed":
                failures += 1
                SubElement(case, "failure", message=_plain(each.seen or "failed"))
            elif each.state == "unverifiable":
                skipped += 1
                SubElement(case, "skipped", message=_plain(each.seen or "could not be checked"))
    for query in queries:
        case = _case(suite, f"query of #{query.memory}", query.title, 0)
        if query.problem is not None:
            failures += 1
            failure = SubElement(case, "failure", message=_plain(query.problem))
            if query.rewrite is not None:
                failure.text = _plain(f"Perhaps: {query.rewrite}")
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(failures))
    suite.set("skipped", str(skipped))
    indent(suite)
    written: bytes = tostring(suite, encoding="UTF-8", xml_declaration=True)
    return written.decode() + "\n"


def _case(suite: Element, name: str, title: str, ms: int) -> Element:
    return SubElement(
        suite,
        "testcase",
        classname="onrecord.check",
        name=_plain(f"{name}: {title}"),
        time=f"{ms / 1_000:.3f}",
    )


def _plain(text: str) -> str:
    """A text without the characters that XML cannot hold."""
    return "".join(each if each.isprintable() or each in "\n\t" else " " for each in text)
