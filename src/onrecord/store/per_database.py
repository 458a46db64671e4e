"""WHAT does a process keep while a database is open? One object of a kind, which goes with the database."""

from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from sqlalchemy import Engine

from onrecord.store.view import View

Thing = TypeVar("Thing")


class PerDatabase(Generic[Thing]):
    """One object for each open database; threads may share it."""

    def __init__(self, make: Callable[[], Thing]) -> None:
        self._make = make
        self._lock = Lock()
        self._things: WeakKeyDictionary[Engine, Thing] = WeakKeyDictionary()

    def of(self, view: View) -> Thing:
        engine = view.connection.engine
        with self._lock:
            if engine not in self._things:
                self._things[engine] = self._make()
            return self._things[engine]
