"""WHICH columns does a table have while a migration is applied? Each statement costs the same, however many there are."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from onrecord.catalog.naming import folded
from onrecord.model.catalog import Model, Part


class ChangingTable:
    """A model whose columns are added, taken away and changed one by one; what is computed stays."""

    def __init__(self, model: Model, columns: Iterable[Part] | None = None) -> None:
        """With other columns than the model has, if they are given."""
        self._model = model
        listed = [part for part in model.parts if part.kind == "column"] if columns is None else list(columns)
        #: By a number that a column keeps, so that it stays in its place under another name.
        self._columns = dict(enumerate(listed))
        self._numbers = {folded(part.name): number for number, part in self._columns.items()}
        self._next = len(listed)

    @property
    def columns(self) -> list[Part]:
        return list(self._columns.values())

    def column(self, name: str) -> Part | None:
        number = self._numbers.get(folded(name))
        return None if number is None else self._columns[number]

    def add(self, part: Part) -> None:
        """A column of a name that is there already stays as it is."""
        if folded(part.name) not in self._numbers:
            self._numbers[folded(part.name)] = self._next
            self._columns[self._next] = part
            self._next += 1

    def drop(self, name: str) -> None:
        number = self._numbers.pop(folded(name), None)
        if number is not None:
            del self._columns[number]

    def change(self, name: str, change: Callable[[Part], Part]) -> None:
        number = self._numbers.pop(folded(name), None)
        if number is not None:
            self._columns[number] = change(self._columns[number])
            self._numbers[folded(self._columns[number].name)] = number

    def renamed(self, name: str) -> "ChangingTable":
        return ChangingTable(replace(self._model, name=name), self.columns)

    def as_model(self) -> Model:
        computed = (part for part in self._model.parts if part.kind != "column")
        return replace(self._model, parts=(*self.columns, *computed))
