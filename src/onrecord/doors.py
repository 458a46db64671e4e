"""HOW does an operation become a method? A door has one for each, made here and nowhere else; what a call does is its own.

Type checkers and editors read `doors.pyi`, which `docs/stub.py` writes from the same operations.
"""

from onrecord.features import HOMES, operation_named


class Door:
    """A method for each operation, which waits for its answer."""

    def perform(self, operation, /, *given, **named):
        raise NotImplementedError


class AsyncDoor:
    """A method for each operation, to be awaited."""

    async def perform(self, operation, /, *given, **named):
        raise NotImplementedError


def _method(operation):
    def call(self, /, *given, **named):
        return self.perform(operation, *given, **named)

    return operation.sign(call)


def _async_method(operation):
    async def call(self, /, *given, **named):
        return await self.perform(operation, *given, **named)

    return operation.sign(call)


class _LazyMethod:
    """Stands in for a method until it is first used. Then it loads the feature and makes the method."""

    def __init__(self, home, name, make):
        self._home, self._name, self._make = home, name, make

    def __get__(self, door, kind):
        method = self._make(operation_named(self._name))
        setattr(self._home, self._name, method)
        return method.__get__(door, kind)


for each in HOMES:
    setattr(Door, each, _LazyMethod(Door, each, _method))
    setattr(AsyncDoor, each, _LazyMethod(AsyncDoor, each, _async_method))
