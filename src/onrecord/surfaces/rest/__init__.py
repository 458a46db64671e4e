"""HOW does a program reach us over HTTP? Routes under /v1, one for each path of the operations."""

from collections.abc import Iterator
from typing import Final

from starlette.routing import BaseRoute, Route

from onrecord.features import OPERATIONS
from onrecord.operation import Operation
from onrecord.surfaces.rest.operations import PREFIX, Endpoint, OperationHandler, template
from onrecord.surfaces.rest.request_runner import RequestRunner
from onrecord.surfaces.rest.transfer import ExportTransfer, ImportTransfer

#: Written by hand: what an operation does with a file is done with the message itself.
_OVERRIDES: Final[dict[str, type[OperationHandler]]] = {"export": ExportTransfer, "import_": ImportTransfer}


def routes(runner: RequestRunner) -> list[BaseRoute]:
    """Every operation that is offered over the network."""
    handlers = [_OVERRIDES.get(each.name, OperationHandler)(runner, each) for each in networked()]
    paths: dict[str, list[OperationHandler]] = {}
    for each in handlers:
        paths.setdefault(template(each.path, each.operation), []).append(each)
    # Routes without parameters come first, as they are called most.
    ordered = sorted(paths.items(), key=lambda item: "{" in item[0])
    return [Route(PREFIX + path, endpoint=Endpoint(several)) for path, several in ordered]


def networked() -> Iterator[Operation]:
    """The operations that have a route."""
    return (each for each in OPERATIONS if each.route is not None)
