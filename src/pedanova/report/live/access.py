"""Who may speak to the server: the browser of whoever started it, and no page of anybody else.

Other pages in the same browser can send requests to this machine (and by a changed name record even under
their own name), and other users of the machine can reach its ports. So every request must name this server
as its host, carry the token that was printed when it started, and come from a page that this server gave.
"""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any, TypeAlias
from urllib.parse import parse_qs

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Message, Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; "
    "img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
ALWAYS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


def new_token() -> str:
    return secrets.token_urlsafe(32)


@dataclass(frozen=True, slots=True)
class Access:
    """An ASGI application around another one, which sees only what may be asked."""

    app: App
    token: str
    port: int

    @property
    def hosts(self) -> tuple[str, ...]:
        return f"127.0.0.1:{self.port}", f"localhost:{self.port}"

    @property
    def cookie(self) -> str:
        return f"pedanova-{self.port}"  # cookies are shared between the ports of a machine

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # no web sockets here: the handshake ends without a word
        nonce = secrets.token_urlsafe(16)
        scope.setdefault("state", {})["nonce"] = nonce
        shielded = self._with_headers(send, nonce, cookie=self._came_by_address(scope))
        refusal = self.refusal(scope)
        if refusal is None:
            await self.app(scope, receive, shielded)
        else:
            await refuse(shielded, *refusal)

    def refusal(self, scope: Message) -> tuple[int, str] | None:
        """Why a request is not for this server, and its status; None where it may pass."""
        if only(scope, b"host") not in self.hosts:
            return 421, "this server answers to 127.0.0.1 and localhost only"
        if scope["method"] not in ("GET", "HEAD"):
            if only(scope, b"origin") not in {f"http://{host}" for host in self.hosts}:
                return 403, "questions are answered to the page of this server only"
            if only(scope, b"sec-fetch-site") not in (None, "same-origin"):
                return 403, "questions are answered to the page of this server only"
        if not self._known(scope):
            return 403, "open the address that pedanova printed when it started: it holds the token"
        return None

    def _known(self, scope: Message) -> bool:
        return self._came_by_address(scope) or any(same(one, self.token) for one in self._cookies(scope))

    def _came_by_address(self, scope: Message) -> bool:
        if scope["method"] != "GET" or scope["path"] != "/":
            return False
        query = parse_qs(scope["query_string"].decode("latin-1"), max_num_fields=20)
        return any(same(one, self.token) for one in query.get("token", ()))

    def _cookies(self, scope: Message) -> Iterable[str]:
        for value in values_of(scope, b"cookie"):
            try:
                cookies = SimpleCookie(value)
            except CookieError:
                continue
            if self.cookie in cookies:
                yield cookies[self.cookie].value

    def _with_headers(self, send: Send, nonce: str, *, cookie: bool) -> Send:
        given = ALWAYS | {"content-security-policy": POLICY.format(nonce=nonce)}
        if cookie:
            given["set-cookie"] = f"{self.cookie}={self.token}; HttpOnly; SameSite=Strict; Path=/"
        own = [(name.encode(), value.encode()) for name, value in given.items()]

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *own]}
            await send(message)

        return with_headers


def values_of(scope: Message, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def only(scope: Message, name: bytes) -> str | None:
    """The one value of a header; None where there is none, an empty text where there are several."""
    values = values_of(scope, name)
    return None if not values else values[0] if len(values) == 1 else ""


def same(one: str, other: str) -> bool:
    """Compared in a time that tells nothing."""
    return hmac.compare_digest(one.encode(), other.encode())


async def refuse(send: Send, status: int, words: str) -> None:
    body = json.dumps({"refused": words}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
