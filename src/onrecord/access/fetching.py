"""HOW is JSON asked for elsewhere? Within bounds of size and time, and with a reason when there is none."""

import json
from typing import Any, Final

import httpx2

_ANSWER_BYTES: Final = 1024 * 1024


class NoAnswer(Exception):
    """Why there is no answer, in words for a log: neither passwords of an address nor the answer are in it."""

    def __init__(self, reason: str, *, reached: bool) -> None:
        self.reached = reached
        super().__init__(reason)


def fetch_json(client: httpx2.Client, method: str, url: httpx2.URL | str, sent: Any = None) -> Any:
    """What the address answers; NoAnswer if that is nothing, an error, too long or not JSON. No redirect is followed."""
    try:
        # As it is sent: what is packed could be any size once it is not.
        plain = {"Accept-Encoding": "identity"}
        with client.stream(method, url, json=sent, headers=plain) as response:
            if not response.is_success:
                raise NoAnswer(f"status {response.status_code}", reached=True)
            body = b""
            for part in response.iter_raw():
                body += part
                if len(body) > _ANSWER_BYTES:
                    raise NoAnswer(f"the answer is longer than {_ANSWER_BYTES} bytes", reached=True)
        return json.loads(body)
    except (httpx2.HTTPError, httpx2.InvalidURL) as problem:
        raise NoAnswer(str(problem) or type(problem).__name__, reached=False) from None
    except (ValueError, RecursionError) as problem:
        raise NoAnswer(f"the answer is not JSON: {problem}", reached=True) from None
