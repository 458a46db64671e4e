"""WHAT must every store do? Test suites that each store inherits, and the helpers that they use."""

from pkgutil import iter_modules

import pytest

# pytest shows the values of a failing assert only in modules that it rewrites, and these must be registered.
pytest.register_assert_rewrite(*(f"{__name__}.{module.name}" for module in iter_modules(__path__)))
