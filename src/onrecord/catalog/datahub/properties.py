"""HOW does DataHub keep a property? As texts or as numbers, one or several, as its definition says."""

import json
from typing import Any, Final, NamedTuple

from onrecord.catalog.datahub.answers import maybe, need
from onrecord.catalog.datahub.client import DatahubClient

_DEFINITION: Final = """
query onrecordProperty($urn: String!) {
  entityExists(urn: $urn)
  structuredProperty(urn: $urn) { urn definition { cardinality valueType { urn } } }
}"""
_TYPE: Final = "urn:li:dataType:datahub."
_NUMBER: Final = "number"


class Property(NamedTuple):
    """What a property takes: values of a type, one or several. If the type is None, the value decides."""

    type: str | None
    several: bool

    def written(self, value: Any) -> list[dict[str, Any]]:
        """The values as a mutation takes them. A number in a property of texts is kept as it is written, and so is true."""
        values = value if isinstance(value, list | tuple) else [value]
        if self.type == _NUMBER or (self.type is None and all(map(_is_number, values))):
            return [
                {"numberValue": float(each)} if _is_number(each) else {"stringValue": each} for each in values
            ]
        return [{"stringValue": _text(each)} for each in values]

    def obstacle(self, value: Any) -> str | None:
        """Why it does not take a value."""
        values = value if isinstance(value, list | tuple) else [value]
        if self.type == _NUMBER and not all(map(_is_number, values)):
            return "DataHub has numbers in this property"
        if not self.several and len(values) > 1:
            return "DataHub has one value in this property"
        return None


def property_of(client: DatahubClient, urn: str) -> Property | None:
    """The definition of a property; None if there is none yet."""
    answer = client.read(_DEFINITION, urn=urn)
    if not need(answer, "entityExists", bool):
        return None
    definition = need(need(answer, "structuredProperty", dict), "definition", dict)
    type_ = need(need(definition, "valueType", dict), "urn", str).removeprefix(_TYPE)
    return Property(type_, maybe(definition, "cardinality", str) == "MULTIPLE")


def definition_for(value: Any) -> dict[str, Any]:
    """What defines a new property that takes this value and others of its kind."""
    values = value if isinstance(value, list | tuple) else [value]
    kind = _NUMBER if all(map(_is_number, values)) else "string"
    return {
        "valueType": f"{_TYPE}{kind}",
        "cardinality": "MULTIPLE" if isinstance(value, list | tuple) else "SINGLE",
    }


def value_of(values: list[Any]) -> Any:
    """The value from DataHub: one, a list of several, or None."""
    found = [_value_of(each) for each in values]
    return found[0] if len(found) == 1 else found or None


def _value_of(value: Any) -> Any:
    number = value.get("numberValue") if isinstance(value, dict) else None
    if number is not None:
        return int(number) if float(number).is_integer() else number
    return need(value if isinstance(value, dict) else {}, "stringValue", str)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
