"""WHAT must every store do? Suites to inherit, and builders, for us and for others."""

import pytest

_SUITES = (
    "archive builders change dedupe ids life listing relations search sight store strangers when".split()
)
# Asserted values are shown only in modules that pytest has rewritten, which it does not do for installed ones.
pytest.register_assert_rewrite(*(f"{__name__}.{name}" for name in _SUITES))
