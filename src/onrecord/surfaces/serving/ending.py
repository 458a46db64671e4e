"""WHEN has a server ended? When it has finished its requests, and in any case soon after the time limit."""

from types import FrameType

import uvicorn

from onrecord.surfaces.forced_exit import end_within


class EndingServer(uvicorn.Server):
    """A server that ends on a signal, even if something hangs."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if not self.should_exit:
            end_within(self.config.timeout_graceful_shutdown or 0)
        super().handle_exit(sig, frame)
