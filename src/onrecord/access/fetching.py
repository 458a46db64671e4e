"""HOW is JSON fetched from elsewhere? Within limits of size and time, and with a reason if it fails."""

import json
from collections.abc import Mapping
from typing import Any, Final

import httpx2

_ANSWER_BYTES: Final = 1024 * 1024


class NoAnswer(Exception):
    """Why there is no answer, for a log: it holds neither passwords of an address nor the answer itself."""

    def __init__(self, reason: str, *, reached: bool) -> None:
        self.reached = reached
        super().__init__(reason)


def fetch_json(
    client: httpx2.Client,
    method: str,
    url: httpx2.URL | str,
    sent: Any = None,
    form: Mapping[str, str] | None = None,
) -> Any:
    """The JSON at an address, to which JSON or a form is sent; NoAnswer if there is none, or it is an error, too long or not JSON. Follows no
    redirect.
    """
    try:
        # Uncompressed, since a short compressed answer may unpack to any size.
        plain = {"Accept-Encoding": "identity"}
        with client.stream(method, url, json=sent, data=form, headers=plain) as response:
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
