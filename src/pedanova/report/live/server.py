"""The server of the live page on this machine, with Starlette and uvicorn."""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import secrets
import socket
import sys
import tempfile
import webbrowser
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from threading import Thread
from typing import Any, Self, TypeAlias, TypeVar

from pedanova.errors import PedanovaError, QueryError, missing_library
from pedanova.measures.studies.across import groups_by
from pedanova.report.live.session import PageRequest, Session
from pedanova.report.page.cards import BY_NAME
from pedanova.report.page.html import draw_page

try:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
    from starlette.routing import Route
    from starlette.types import ASGIApp, Message, Receive, Scope, Send
    from uvicorn.protocols.http.h11_impl import H11Protocol
except ImportError:
    raise missing_library("the explorer needs Starlette and uvicorn", "explore") from None

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


HEADER = "x-pedanova-token"  # a header that only the page sends, so that other local servers never see the token


@dataclass(frozen=True, slots=True)
class Keys:
    """The token that a page sends with each request, and the one-time tickets (in URLs) with which a page gets it."""

    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    tickets: list[str] = field(default_factory=list)  # unused tickets

    def issue(self) -> str:
        self.tickets.append(secrets.token_urlsafe(32))
        return self.tickets[-1]

    def redeem(self, ticket: str) -> bool:
        known = next((one for one in self.tickets if same(one, ticket)), None)
        if known is not None:
            self.tickets.remove(known)
        return known is not None


@dataclass(frozen=True, slots=True)
class Access:
    """An ASGI middleware that passes only allowed requests on to another application."""

    app: ASGIApp
    token: str
    port: int

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return  # web sockets are not supported
        request, nonce = Request(scope), secrets.token_urlsafe(16)
        scope.setdefault("state", {})["nonce"] = nonce
        refusal = self.refusal(request)
        app = self.app if refusal is None else refused(*refusal)
        await app(scope, receive, with_headers(send, nonce))

    def refusal(self, request: Request) -> tuple[int, str] | None:
        """The HTTP status and the reason of a refusal, or None if the request is allowed."""
        hosts = (f"127.0.0.1:{self.port}", f"localhost:{self.port}")
        if only(request, "host") not in hosts:
            return 421, "this server answers only requests to 127.0.0.1 and localhost"
        if request.method not in ("GET", "HEAD"):
            own = only(request, "origin") in {f"http://{host}" for host in hosts}
            if not own or only(request, "sec-fetch-site") not in (None, "same-origin"):
                return 403, "only the page of this server may ask questions"
        elif request.url.path == "/":
            return None
        if not same(only(request, HEADER) or "", self.token):
            return 403, "open the address that pedanova printed; an address works in one browser only"
        return None


def with_headers(send: Send, nonce: str) -> Send:
    given = ALWAYS | {"content-security-policy": POLICY.format(nonce=nonce)}
    own = [(name.encode(), value.encode()) for name, value in given.items()]

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), *own]}
        await send(message)

    return sent


def only(request: Request, name: str) -> str | None:
    """The value of the header `name`, or None if it is missing; an empty string if it occurs several times."""
    values = request.headers.getlist(name)
    return None if not values else values[0] if len(values) == 1 else ""


def same(one: str, other: str) -> bool:
    """Compare two texts in constant time."""
    return hmac.compare_digest(one.encode(), other.encode())


MOST_WAITING = 128  # questions at once; more get an error
AT_ONCE = {"bars": 1, "quick": 2, "sure": 1, "slow": 1}  # two answers with bars at once would both be late
THREAD_NAME = "pedanova-answer"  # the name of threads that compute answers
Value = TypeVar("Value")


class BusyError(PedanovaError):
    """Raised if too many requests are waiting."""

    status = 503


class StaleError(PedanovaError):
    """Raised if an answer is no longer needed, because a newer request replaced it or the client left."""

    status = 409


class RequestQueue:
    """Passes requests to a session, a few at a time; a new request replaces waiting requests with the same `lane`."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.waiting = 0
        self._newest: dict[tuple[Any, ...], int] = {}
        self._count = 0
        self._lanes = {kind: asyncio.Semaphore(most) for kind, most in AT_ONCE.items()}

    async def answer(self, request: PageRequest, gone: Callable[[], Any]) -> dict[str, Any]:
        if self.waiting >= MOST_WAITING:
            raise BusyError("too many questions at once; ask again in a moment")
        self._count = number = self._count + 1
        if request.client:
            self._newest[request.lane] = number
        self.waiting += 1
        try:
            async with self._lanes[kind_of(request)]:
                if self._newest.get(request.lane, number) > number or await gone():
                    raise StaleError("a newer question replaced this one")
                return await in_thread(lambda: self.session.answer(request))
        finally:
            self.waiting -= 1
            if self._newest.get(request.lane) == number:
                del self._newest[request.lane]

    async def slowly(self, work: Callable[[], Value]) -> Value:
        if self.waiting >= MOST_WAITING:
            raise BusyError("too many questions at once; ask again in a moment")
        async with self._lanes["slow"]:
            return await in_thread(work)


def kind_of(request: PageRequest) -> str:
    """The name of the queue for a request; slow requests have their own queue, so that quick requests need not wait."""
    if BY_NAME[request.part].slow:
        return "slow"
    if request.extras.get("drawn") is False and request.extras.get("sure") is False:
        return "bars"
    return "sure" if request.extras.get("sure") is True else "quick"


async def in_thread(work: Callable[[], Value]) -> Value:
    """Run `work` in a daemon thread and return its result; the server can stop without waiting for the thread."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Value] = loop.create_future()

    def settle(value: Any, error: BaseException | None) -> None:
        if not future.done():
            future.set_result(value) if error is None else future.set_exception(error)

    def run() -> None:
        value, failure = None, None
        try:
            value = work()
        except BaseException as error:  # raised in the coroutine that waits for the result
            failure = error
        with suppress(RuntimeError):  # the event loop has ended
            loop.call_soon_threadsafe(settle, value, failure)

    Thread(target=run, daemon=True, name=THREAD_NAME).start()
    return await future


Door: TypeAlias = Callable[[Request], Awaitable[Response]]
LOOPBACK = "127.0.0.1"
LARGEST = 1 << 18  # bytes of a question
IDLE = 10.0  # seconds without a complete request after which a connection is closed
MOST_IDLE = 512  # connections without a request; with more, the oldest are closed
DEEPEST = 12  # nested brackets
BACKLOG = 1024
PATIENCE = 0.8  # seconds to wait for the server to stop
TURN = 0.001  # seconds after which threads switch, so that new questions need not wait


class TooLargeError(QueryError):
    """Raised if the body of a request is larger than any valid request."""

    status = 413


class PatientProtocol(H11Protocol):
    """uvicorn's HTTP protocol with time limits, so that idle or slow connections do not block others."""

    _seen: object = None  # the request at the last check

    @property
    def is_working(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._look_again = self.loop.call_later(IDLE, self._look)
        self.began = self.loop.time()
        idle = [one for one in self.connections if isinstance(one, PatientProtocol) and not one.is_working]
        for one in sorted(idle, key=lambda one: one.began)[:-MOST_IDLE]:
            one.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._look_again.cancel()
        super().connection_lost(exc)

    def _look(self) -> None:
        if not self.is_working and self.cycle is self._seen:
            self.transport.close()
            return
        self._seen = self.cycle
        self._look_again = self.loop.call_later(IDLE, self._look)


async def body_of(request: Request) -> dict[str, Any]:
    """Read the JSON object of a request, with limits for its size, its nesting and the time to send it."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise QueryError("a question must be sent as application/json")
    body = bytearray()
    try:
        async with asyncio.timeout(IDLE):
            async for piece in request.stream():
                body += piece
                if len(body) > LARGEST:
                    raise TooLargeError(f"a question of more than {LARGEST:,} bytes is too large; select fewer values")
    except TimeoutError:
        raise QueryError(f"a question must be sent within {IDLE:g} seconds") from None
    text = body.decode("utf-8", errors="replace")
    if depth_of(text) > DEEPEST:
        raise QueryError(f"a question must not be nested more than {DEEPEST} levels deep")
    try:
        data = json.loads(text, parse_constant=no_number)
    except ValueError:
        raise QueryError("a question must be JSON") from None
    if not isinstance(data, dict):
        raise QueryError('a request must be an object with the keys "part" and "question"')
    return data


def no_number(text: str) -> float:
    raise ValueError(f"{text} is not a number in JSON")


def depth_of(text: str) -> int:
    """How deeply brackets are nested in JSON text; brackets inside strings count too."""
    open_now = most = 0
    for letter in text:
        if letter in "[{":
            open_now += 1
            most = max(most, open_now)
        elif letter in "]}":
            open_now -= 1
    return most


def refused(status: int, words: str) -> Response:
    return JSONResponse({"refused": words} | ({"stale": True} if status == 409 else {}), status_code=status)


def application(session: Session, keys: Keys) -> Starlette:
    """The web application of a session; a page that is opened without a ticket has no data and no token."""
    queue = RequestQueue(session)

    async def page(request: Request) -> Response:
        ahead = request.headers.get("sec-purpose", "").startswith("prefetch")  # the browser only prefetches the page
        if request.method == "GET" and not ahead and keys.redeem(request.query_params.get("ticket", "")):
            facts, token = await in_thread(session.facts), {"token": keys.token}
        else:
            facts, token = {"title": "pedanova", "live": "http"}, {}
        return HTMLResponse(draw_page({"facts": facts, "answers": [], **token}, request.state.nonce))

    async def facts(_: Request) -> Response:
        return JSONResponse(await in_thread(session.facts))

    async def ask(request: Request) -> Response:
        wanted = session.request(await body_of(request))
        return JSONResponse(await queue.answer(wanted, request.is_disconnected))

    async def report(request: Request) -> Response:
        wanted = session.request(await body_of(request) | {"part": "space"})
        page = await queue.slowly(lambda: session.report(wanted.question))
        return HTMLResponse(page, headers={"content-disposition": 'attachment; filename="report.html"'})

    async def trials(request: Request) -> Response:
        wanted = session.request(await body_of(request) | {"part": "trials"})
        lines = await queue.slowly(lambda: session.csv(wanted))
        return StreamingResponse(lines, media_type="text/csv")

    routes = [
        Route("/", page),
        Route("/facts", facts),
        Route("/ask", with_refusals(ask), methods=["POST"]),
        Route("/report", with_refusals(report), methods=["POST"]),
        Route("/trials", with_refusals(trials), methods=["POST"]),
    ]
    return Starlette(routes=routes)


def with_refusals(door: Door) -> Door:
    """Wrap a request handler: an error becomes an HTTP status and a sentence; unexpected errors are also printed."""

    async def answered(request: Request) -> Response:
        try:
            return await door(request)
        except ClientDisconnect as error:
            return refused(409, str(error))
        except PedanovaError as error:
            return refused(getattr(error, "status", 400), str(error))
        except Exception as error:  # the server continues, and the page shows the error
            print(f"pedanova: {type(error).__name__}: {error}", file=sys.stderr)
            return refused(500, "something went wrong; the terminal that runs pedanova shows the error")

    return answered


class Explorer:
    """A page that is served until it is closed; ``explorer.url`` is its address, on this machine only.

    The address contains a ticket that works once; afterwards, ``url`` is a new address.
    """

    def __init__(self, session: Session, *, port: int = 0, at_end: Callable[[], object] | None = None) -> None:
        self.session, self._at_end = session, at_end
        self._socket = listening(port)
        self.port: int = self._socket.getsockname()[1]
        self._keys = Keys()
        self._ticket = self._first = self._keys.issue()
        self._door: Path | None = None  # the file that opens the page in a browser
        access = Access(application(session, self._keys), self._keys.token, self.port)
        config = uvicorn.Config(
            access, log_level="critical", access_log=False, lifespan="off", server_header=False, date_header=False,
            proxy_headers=False, ws="none", http=PatientProtocol, timeout_keep_alive=30, backlog=BACKLOG,
            h11_max_incomplete_event_size=1 << 16,
        )  # fmt: skip
        self._server = uvicorn.Server(config)
        self._thread = Thread(target=self._server.run, args=([self._socket],), daemon=True, name="pedanova-explore")
        self._thread.start()

    @property
    def url(self) -> str:
        if self._ticket not in self._keys.tickets:
            self._ticket = self._keys.issue()
        return self._address(self._ticket)

    def _address(self, ticket: str) -> str:
        return f"http://{LOOPBACK}:{self.port}/?ticket={ticket}"

    def open(self) -> bool:
        """Open the page in a browser, through a private file, so that other users cannot see the address."""
        number, name = tempfile.mkstemp(prefix="pedanova-", suffix=".html")
        self._door = Path(name)
        os.close(number)
        self._door.write_text(DOOR.format(url=escape(self._address(self._keys.issue()))), encoding="utf-8")
        opened = webbrowser.open(self._door.as_uri())
        if not opened:
            self._door.unlink()
        return opened

    def wait(self) -> None:
        """Wait until Ctrl-C or `close`; whenever the printed address was used, print a new address."""
        shown = self._address(self._first)  # the address may already have been used
        try:
            while self._thread.is_alive():
                self._thread.join(0.5)
                if self.url != shown:
                    shown = self.url
                    print(f"For another browser: {shown}", flush=True)
        finally:
            self.close()

    def close(self) -> None:
        """Stop the server; returns at once, even during a computation."""
        if self._at_end is not None:
            self._at_end()
        if self._door is not None:
            self._door.unlink(missing_ok=True)
        self._server.should_exit = self._server.force_exit = True
        self._thread.join(PATIENCE)
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Explorer({self.url})"


DOOR = """<!doctype html>
<meta charset="utf-8"><meta http-equiv="refresh" content="0; url={url}"><title>pedanova</title>
<a href="{url}">Open the page</a>
"""


def listening(port: int) -> socket.socket:
    """A socket that only this machine can access."""
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # asyncio then avoids delays
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((LOOPBACK, port))
        made.listen(BACKLOG)  # a browser may connect immediately
    except (OSError, OverflowError) as error:
        made.close()
        raise QueryError(f"port {port} cannot be used ({error}); choose another port, or 0 for any free port") from None
    return made


def explore(
    session: Session, *, port: int = 0, show: bool = True, wait: bool = True, at_end: Callable[[], object] | None = None
) -> Explorer:
    """Serve the live page of a session; `at_end` is called when the page is closed."""
    if session.group is not None and session.watcher is None:
        groups_by(session.analysis, session.group)  # an unusable column is an error before serving
    explorer = Explorer(session, port=port, at_end=at_end)
    if show and not explorer.open():
        warn = f"no browser could be opened; open {explorer.url} yourself"
        print(warn, file=sys.stderr)
    if wait:
        sys.setswitchinterval(TURN)  # this process only serves the page
        print(explorer.url)
        with suppress(KeyboardInterrupt):
            explorer.wait()
    return explorer
