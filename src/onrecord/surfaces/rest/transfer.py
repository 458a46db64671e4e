"""HOW does a whole tenant move over the network? As a stream of lines; locally an export is a file."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Send

from onrecord import private_files
from onrecord.errors import invalid
from onrecord.operation import Operation
from onrecord.service import OnRecord
from onrecord.surfaces.rest.bodies import chunks
from onrecord.surfaces.rest.idempotency import worded
from onrecord.surfaces.rest.operations import OperationHandler
from onrecord.surfaces.rest.problems import WRONG_TYPE, Refusal
from onrecord.surfaces.rest.request_runner import RequestRunner

IMPORT_BYTES: Final = 64 * 1024 * 1024
LINES: Final = "application/jsonl"
_LINE_TYPES: Final = frozenset(
    {LINES, "application/x-ndjson", "application/ndjson", "application/json-lines"}
)
_AT_ONCE: Final = 256 * 1024
#: A field that names a file of the server; over the network the body is the file.
FILE_FIELD: Final = "path"


class Transfer(OperationHandler):
    """An operation on a file whose content is the body; its other fields are in the query."""

    def __init__(self, runner: RequestRunner, operation: Operation) -> None:
        super().__init__(runner, operation)
        self.has_body = False

    def options(self, request: Request) -> dict[str, Any]:
        values = self.values(request, b"")
        if FILE_FIELD in values:
            raise invalid(FILE_FIELD, "names a local file; over HTTP, send its content as the body")
        return values


class ExportTransfer(Transfer):
    """Sends the lines of an export, from a file that is complete before the first line is sent."""

    async def respond(self, request: Request, send: Send) -> None:
        with _temporary_file("export.jsonl") as path:
            await self.runner.run(self._write, request, path, by=request, slow=True)
            headers = [
                (b"content-type", LINES.encode()),
                (b"content-length", str(path.stat().st_size).encode()),
                (b"content-disposition", b'attachment; filename="onrecord.jsonl"'),
            ]
            # Not Starlette's response for files: it offers ranges, and the next export is another file.
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            with path.open("rb") as file:
                while request.method != "HEAD" and (
                    part := await self.runner.run(file.read, _AT_ONCE, by=request)
                ):
                    await send({"type": "http.response.body", "body": part, "more_body": True})
            await send({"type": "http.response.body", "body": b""})

    def _write(self, request: Request, path: Path) -> None:
        door = self.runner.admit(request)
        door.perform(self.operation, path=str(path), **self.options(request))


class ImportTransfer(Transfer):
    """Stores the lines of an export in a file until all have arrived."""

    async def respond(self, request: Request, send: Send) -> None:
        # Authenticated first, so that a stranger cannot fill our disk.
        door = await self.runner.authenticate(request)
        if not self.operation.is_offered_to(door.caller):
            # The operation itself refuses, which leaves an entry in the audit.
            await self.runner.run(door.perform, self.operation, by=request)
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in _LINE_TYPES:
            raise Refusal(WRONG_TYPE, f"Send the lines of an export, with Content-Type: {LINES}.")
        # Errors mention this name with the line.
        with _temporary_file("body") as path:
            with path.open("wb") as file:
                async for part in chunks(request, IMPORT_BYTES):
                    await self.runner.run(file.write, part, by=request)
            response = await self.runner.run(self._read, request, door, path, by=request, slow=True)
        await response(request.scope, request.receive, send)

    def _read(self, request: Request, door: OnRecord, path: Path) -> Response:
        values = self.options(request) | {FILE_FIELD: str(path)}
        return self.response(request, worded(door.perform(self.operation, **values)))


@contextmanager
def _temporary_file(name: str) -> Iterator[Path]:
    """A private file, deleted afterwards."""
    with tempfile.TemporaryDirectory(prefix="onrecord-") as folder:
        path = Path(folder) / name
        private_files.make_file(path)
        yield path
