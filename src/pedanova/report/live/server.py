"""The page served from this machine to this machine: Starlette and uvicorn around a session."""

from __future__ import annotations

import json
import socket
import sys
import webbrowser
from collections.abc import Awaitable, Callable
from contextlib import suppress
from threading import Thread
from typing import Any, Self, TypeAlias

from pedanova.errors import MissingLibraryError, PedanovaError, QueryError
from pedanova.report.asks import Shows
from pedanova.report.live.desk import BusyError, Desk, StaleError, in_thread
from pedanova.report.live.guard import Guard, new_token
from pedanova.report.live.session import Session
from pedanova.report.live.sight import Watches
from pedanova.report.live.watch import Watcher
from pedanova.report.page.html import draw_live

try:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import HTMLResponse, JSONResponse, Response
    from starlette.routing import Route
except ImportError:
    raise MissingLibraryError("the explorer needs Starlette and uvicorn; pip install 'pedanova[explore]'") from None

Door: TypeAlias = Callable[[Request], Awaitable[Response]]
LOOPBACK = "127.0.0.1"
LARGEST = 1 << 18  # bytes of a question
DEEPEST = 12  # brackets within brackets
BACKLOG = 1024
PATIENCE = 0.8  # seconds until an end is an end


class TooLargeError(QueryError):
    """More bytes than a question has."""


async def body_of(request: Request) -> Any:
    """The JSON of a request, of bounded size and depth."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise QueryError("a question must be sent as application/json")
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > LARGEST:
            raise TooLargeError(f"a question of more than {LARGEST:,} bytes is too large; select less at once")
    text = body.decode("utf-8", errors="replace")
    if depth_of(text) > DEEPEST:
        raise QueryError(f"a question with more than {DEEPEST} brackets within brackets is not understood")
    try:
        return json.loads(text, parse_constant=no_number)
    except ValueError:
        raise QueryError("a question must be JSON") from None


def no_number(text: str) -> float:
    raise ValueError(f"{text} is no number of JSON")


def depth_of(text: str) -> int:
    """Brackets that are open at once, at most; those in texts count too, which only refuses more."""
    open_now = most = 0
    for letter in text:
        if letter in "[{":
            open_now += 1
            most = max(most, open_now)
        elif letter in "]}":
            open_now -= 1
    return most


def refused(status: int, words: str, **more: Any) -> Response:
    return JSONResponse({"refused": words, **more}, status_code=status)


def application(session: Session) -> Starlette:
    """Three doors: the page, its facts, and the questions."""
    desk = Desk(session)

    async def page(request: Request) -> Response:
        facts = await in_thread(session.facts)
        return HTMLResponse(draw_live(facts, request.state.nonce))

    async def facts(_: Request) -> Response:
        return JSONResponse(await in_thread(session.facts))

    async def ask(request: Request) -> Response:
        asked = session.asked(await body_of(request))
        return JSONResponse(await desk.answer(asked, request.is_disconnected))

    async def report(request: Request) -> Response:
        asked = session.asked(await body_of(request) | {"part": "space"})
        page = await desk.slowly(lambda: session.report(asked.question))
        return HTMLResponse(page, headers={"content-disposition": 'attachment; filename="report.html"'})

    routes = [
        Route("/", page),
        Route("/facts", facts),
        Route("/ask", in_words(ask), methods=["POST"]),
        Route("/report", in_words(report), methods=["POST"]),
    ]
    return Starlette(routes=routes)


def in_words(door: Door) -> Door:
    """A refusal is a status and a sentence; what nobody foresaw is told to whoever started the server."""

    async def answered(request: Request) -> Response:
        try:
            return await door(request)
        except BusyError as error:
            return refused(503, str(error))
        except (StaleError, ClientDisconnect) as error:
            return refused(409, str(error), stale=True)
        except TooLargeError as error:
            return refused(413, str(error))
        except PedanovaError as error:
            return refused(400, str(error))
        except Exception as error:  # the server lives on, and the page says so
            print(f"pedanova: {type(error).__name__}: {error}", file=sys.stderr)
            return refused(500, "something went wrong here; the terminal that pedanova runs in says what")

    return answered


class Explorer:
    """A page that is served until it is closed: ``explorer.url`` opens it, on this machine alone."""

    def __init__(self, session: Session, *, port: int = 0, watcher: Watcher | None = None) -> None:
        self.session, self.watcher = session, watcher
        self._socket = listening(port)
        self.port: int = self._socket.getsockname()[1]
        self.token = new_token()
        guard = Guard(application(session), self.token, self.port)
        config = uvicorn.Config(
            guard, log_level="critical", access_log=False, lifespan="off", server_header=False, date_header=False,
            proxy_headers=False, ws="none", timeout_keep_alive=30, backlog=BACKLOG,
            h11_max_incomplete_event_size=1 << 16,
        )  # fmt: skip
        self._server = uvicorn.Server(config)
        self._thread = Thread(target=self._server.run, args=([self._socket],), daemon=True, name="pedanova-explore")
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}/?token={self.token}"

    def open(self) -> bool:
        """Show it in the browser; False where there is none."""
        return webbrowser.open(self.url)

    def wait(self) -> None:
        """Until somebody presses Ctrl-C or closes it."""
        try:
            while self._thread.is_alive():
                self._thread.join(0.5)
        finally:
            self.close()

    def close(self) -> None:
        """No more answers; returns at once, whatever is still being counted."""
        if self.watcher is not None:
            self.watcher.close()
        self._server.should_exit = self._server.force_exit = True
        self._thread.join(PATIENCE)
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Explorer({self.url})"


def listening(port: int) -> socket.socket:
    """A socket that only this machine can reach."""
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # asyncio asks for it: no delays
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((LOOPBACK, port))
        made.listen(BACKLOG)  # whoever reads the address may come at once
    except (OSError, OverflowError) as error:
        made.close()
        raise QueryError(f"port {port} cannot be had ({error}); choose another, or 0 for a free one") from None
    return made


def explore(
    a: Shows,
    *,
    title: str,
    start: tuple[object, object],
    source: str = "",
    port: int = 0,
    show: bool = True,
    wait: bool = True,
    watched: Watches | None = None,
    group: str | None = None,
    **options: Any,
) -> Explorer:
    """Serve an analysis. `watched`: its source, while it grows; `group`: the column of its studies."""
    if group is not None and watched is None:
        a.groups(group)  # a column that names none is told before anything is served
    session = Session.of(a, title, start, options, source=source, watch=watched is not None, group=group)
    watcher = None if watched is None else Watcher(session, watched).start()
    explorer = Explorer(session, port=port, watcher=watcher)
    if show and not explorer.open():
        warn = f"no browser could be opened; open {explorer.url} yourself"
        print(warn, file=sys.stderr)
    if wait:
        print(explorer.url)
        with suppress(KeyboardInterrupt):
            explorer.wait()
    return explorer
