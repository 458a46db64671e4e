"""HOW does a program that runs an agent have its text done? `POST /v1/slash`: the text goes in, the blocks come back."""

from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from onrecord.errors import Fault, Invalid
from onrecord.faces.arbiter.slash import run
from onrecord.model.wire import to_json
from onrecord.service import OnRecord
from onrecord.surfaces.rest.bodies import read_body, read_object
from onrecord.surfaces.rest.operations import PREFIX
from onrecord.surfaces.rest.request_runner import RequestRunner

#: Files stand in the text, and what is no plain letter takes several bytes in JSON.
_BODY_BYTES: Final = 4 * 1024 * 1024
_FIELDS: Final = ("text", "agent", "conversation")


def routes(runner: RequestRunner) -> list[BaseRoute]:
    """POST /v1/slash with `text`, and maybe `agent` and `conversation`."""

    async def slash(request: Request) -> Response:
        await runner.meet(request)
        body = await read_body(request, _BODY_BYTES)

        def act(door: OnRecord) -> Any:
            # Only whoever is let in is told what is wrong with it.
            return to_json(run(door, **_read(read_object(request.headers, body))))

        return JSONResponse(await runner.call(request, act))

    return [Route(f"{PREFIX}/slash", slash, methods=["POST"])]


def _read(body: dict[str, Any]) -> dict[str, Any]:
    faults = [
        Fault(name, f"is not a field here; there are {', '.join(_FIELDS)}") for name in body.keys() - _FIELDS
    ]
    if "text" not in body:
        faults.append(Fault("text", "is required"))
    if faults:
        raise Invalid(faults)
    return body
