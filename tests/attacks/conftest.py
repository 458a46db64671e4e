"""A server for the tests of attacks: the same as a program meets elsewhere."""

from ..surfaces.conftest import Served, served, server

__all__ = ["Served", "served", "server"]
