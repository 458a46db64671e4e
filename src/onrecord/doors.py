"""HOW does an operation become a method? A door has one for each, made here and nowhere else; what a call does is its own.

Type checkers and editors read `doors.pyi`, which `docs/generate.py` writes from the same operations.
"""

from onrecord.features import OPERATIONS


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


for each in OPERATIONS:
    setattr(Door, each.name, _method(each))
    setattr(AsyncDoor, each.name, _async_method(each))
