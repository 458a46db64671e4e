"""An identity provider on this machine, which checks what a real one checks, and can be told to answer wrongly."""

import base64
import hashlib
import json
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec

_KEY = ec.generate_private_key(ec.SECP256R1())
_OTHER_KEY = ec.generate_private_key(ec.SECP256R1())

#: Else a browser asks for one, and complains that there is none.
_NO_ICON = '<link rel="icon" href="data:,">'
Answer = tuple[int, str, bytes]


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Whoever asked has left without reading on: that is not worth a word."""


def _serving(answer: Callable[[str, dict[str, str], str | None], Answer]) -> _Server:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer("")

        def do_POST(self) -> None:
            self._answer(self.rfile.read(int(self.headers["content-length"])).decode())

        def _answer(self, body: str) -> None:
            there = urlsplit(self.path)
            fields = {name: values[0] for name, values in parse_qs(body or there.query).items()}
            fields.setdefault("", there.query)
            status, kind, sent = answer(there.path, fields, self.headers["authorization"])
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = _Server(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    return server


@contextmanager
def other_site() -> Iterator[str]:
    """A site under another name, whose page links to the address in its query."""

    def answer(path: str, fields: dict[str, str], _: str | None) -> Answer:
        return 200, "text/html", f'{_NO_ICON}<a href="{escape(unquote(fields[""]))}">look</a>'.encode()

    server = _serving(answer)
    # The name makes it another site; the address is the same.
    yield f"http://localhost:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


class IdentityProvider:
    """It knows one client with its secret, and lets anyone be ann."""

    def __init__(self, client: str, secret: str) -> None:
        self._client, self._secret = client, secret
        self._codes: dict[str, Mapping[str, str]] = {}
        #: What it does wrong, and what it says in an access token, if it makes one that we can read.
        self.wrong: str | None = None
        self.access: dict[str, Any] | None = None
        self.redeemed = 0
        self._server = _serving(self._answer)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def agree(self, asked: Mapping[str, str]) -> str:
        """What a person who signs in gets for what their browser asked: a code, which counts once."""
        assert asked["client_id"] == self._client
        assert asked["redirect_uri"].endswith("/sign-in/callback")
        code = secrets.token_urlsafe(12)
        self._codes[code] = asked
        return code

    def _answer(self, path: str, fields: dict[str, str], authorization: str | None) -> Answer:
        if path == "/.well-known/openid-configuration":
            return _json(
                {
                    "issuer": self.url,
                    "jwks_uri": f"{self.url}/keys",
                    "authorization_endpoint": f"{self.url}/authorize",
                    "token_endpoint": f"{self.url}/token",
                }
            )
        if path == "/keys":
            public = jwt.get_algorithm_by_name("ES256").to_jwk(_KEY.public_key(), as_dict=True)
            return _json({"keys": [{**public, "kid": "one", "use": "sig"}]})
        if path == "/authorize":
            back = urlencode({"code": self.agree(fields), "state": fields["state"], "iss": self.url})
            link = escape(f"{fields['redirect_uri']}?{back}")
            return 200, "text/html", f'{_NO_ICON}<a href="{link}">I am ann</a>'.encode()
        if path == "/token":
            return self._redeem(fields, authorization)
        return 404, "text/plain", b"nothing here"

    def _redeem(self, fields: dict[str, str], authorization: str | None) -> Answer:
        asked = self._codes.pop(fields["code"], None)
        shown = base64.b64decode((authorization or "Basic ").split()[1]).decode().partition(":")
        is_client = (unquote(shown[0]), unquote(shown[2])) == (self._client, self._secret)
        if not is_client or asked is None or fields["redirect_uri"] != asked["redirect_uri"]:
            return _json({"error": "invalid_grant"}, 400)
        digest = hashlib.sha256(fields["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if challenge != asked["code_challenge"] or self.wrong in ("verifier", "status"):
            return _json({"error": "invalid_grant"}, 400)
        self.redeemed += 1
        if self.wrong == "not_json":
            return 200, "text/html", b"<p>Hello</p>"
        told = {"id_token": self._id_token(asked)}
        if self.access is not None:
            told["access_token"] = self._token({"org": "acme", **self.access})
        return _json({} if self.wrong == "no_id_token" else told)

    def _id_token(self, asked: Mapping[str, str]) -> str:
        wrongly: dict[str | None, dict[str, Any]] = {
            "nonce": {"nonce": "another"},
            "audience": {"aud": "another-client"},
            "expired": {"exp": int(time.time()) - 3600},
            "azp": {"aud": [self._client, "other"], "azp": "other"},
        }
        said = {"aud": self._client, "nonce": asked["nonce"], "org": "acme", "scope": "memory.read"}
        return self._token(said | wrongly.get(self.wrong, {}))

    def _token(self, said: Mapping[str, Any]) -> str:
        now = int(time.time())
        usual = {"iss": self.url, "sub": "ann", "iat": now, "exp": now + 300}
        key = _OTHER_KEY if self.wrong == "signature" else _KEY
        return jwt.encode({**usual, **said}, key, algorithm="ES256", headers={"kid": "one"})


def _json(told: Mapping[str, Any], status: int = 200) -> Answer:
    return status, "application/json", json.dumps(told).encode()
