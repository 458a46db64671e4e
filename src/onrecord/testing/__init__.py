"""WHAT must every store do? Suites to inherit, and builders, for us and for others."""

from pkgutil import iter_modules

import pytest

# A failing assert shows its values only in modules that pytest has rewritten; of a package it must be told.
pytest.register_assert_rewrite(*(f"{__name__}.{module.name}" for module in iter_modules(__path__)))
