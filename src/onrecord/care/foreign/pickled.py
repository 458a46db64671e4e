"""WHAT does a pickled value hold? Its data alone: no class is looked up and nothing is called, so nothing in it can run."""

import pickletools
from dataclasses import dataclass, field
from typing import Any, Final

from onrecord.care.foreign.items import Unreadable

_MARK: Final = object()
_EMPTY: Final = {"EMPTY_DICT": dict, "EMPTY_LIST": list, "EMPTY_SET": set}
_SINGLE: Final = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "MARK": _MARK}
_OF_MEMO: Final = frozenset({"MEMOIZE", "PUT", "BINPUT", "LONG_BINPUT", "GET", "BINGET", "LONG_BINGET"})
_OF_OBJECTS: Final = frozenset({"GLOBAL", "STACK_GLOBAL", "NEWOBJ", "REDUCE", "NEWOBJ_EX", "BUILD"})
_OF_COLLECTIONS: Final = frozenset(
    {"APPEND", "APPENDS", "SETITEM", "SETITEMS", "ADDITEMS", "TUPLE", "LIST", "DICT", "FROZENSET"}
)
_TUPLES: Final = {"EMPTY_TUPLE": 0, "TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}


@dataclass(slots=True)
class Inert:
    """In place of an object: what it was made of, and its state."""

    made_of: Any = None
    state: Any = field(default=None)


class _Reader:
    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def step(self, name: str, argument: Any) -> None:
        stack = self.stack
        if name in _EMPTY:
            stack.append(_EMPTY[name]())
        elif name in _SINGLE:
            stack.append(_SINGLE[name])
        elif name in _TUPLES:
            count = _TUPLES[name]
            stack[len(stack) - count :] = [tuple(stack[len(stack) - count :])]
        elif name in _OF_MEMO:
            self._remember(name, argument)
        elif name in _OF_OBJECTS:
            self._object(name)
        elif name in _OF_COLLECTIONS:
            self._collect(name)
        elif argument is not None:
            stack.append(argument)
        elif name != "STOP":
            raise Unreadable(f"it holds a pickled {name}")

    def _remember(self, name: str, argument: Any) -> None:
        if name == "MEMOIZE":
            self.memo[len(self.memo)] = self.stack[-1]
        elif name.endswith("PUT"):
            self.memo[int(argument)] = self.stack[-1]
        else:
            self.stack.append(self.memo[int(argument)])

    def _object(self, name: str) -> None:
        stack = self.stack
        if name == "GLOBAL":
            stack.append(Inert())
        elif name == "BUILD":
            state = stack.pop()
            if isinstance(stack[-1], Inert):
                stack[-1].state = state
        else:
            taken = [stack.pop() for _ in range(3 if name == "NEWOBJ_EX" else 2)]
            stack.append(Inert(None if name == "STACK_GLOBAL" else taken[0]))

    def _collect(self, name: str) -> None:
        stack = self.stack
        if name in ("APPEND", "SETITEM"):
            count = 1 if name == "APPEND" else 2
            items = stack[len(stack) - count :]
            del stack[len(stack) - count :]
        else:
            at = len(stack) - 1 - stack[::-1].index(_MARK)
            items = stack[at + 1 :]
            del stack[at:]
        pairs = zip(items[::2], items[1::2], strict=False)
        if name in ("TUPLE", "LIST", "FROZENSET"):
            stack.append(tuple(items) if name == "TUPLE" else list(items))
        elif name == "DICT":
            stack.append(dict(pairs))
        elif isinstance(stack[-1], dict):
            stack[-1].update(pairs)
        elif isinstance(stack[-1], list):
            stack[-1].extend(items)


def data_of(raw: bytes) -> Any:
    """The value, with an `Inert` in place of each object; Unreadable if it is damaged."""
    reader = _Reader()
    try:
        for code, argument, _ in pickletools.genops(raw):
            if code.name not in ("PROTO", "FRAME"):
                reader.step(code.name, argument)
        [value] = reader.stack
    except (ValueError, TypeError, IndexError, KeyError, OverflowError, MemoryError, EOFError):
        raise Unreadable("a pickled value in it is damaged") from None
    return value
