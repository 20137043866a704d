"""A TCP proxy that drops connections after so many bytes: a database that goes away in the middle of a read."""

from __future__ import annotations

import select
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit


@dataclass
class Proxy:
    """Passes bytes between a client and a server, until the server has sent `most` of them."""

    url: str  # of the database, through the proxy
    most: int | None = None
    sent: int = 0
    abrupt: bool = True  # a reset, as of a killed server; otherwise an orderly end
    stop: threading.Event = field(default_factory=threading.Event)

    def serve(self, listener: socket.socket, server: tuple[str, int]) -> None:
        while not self.stop.is_set():
            if not select.select([listener], [], [], 0.05)[0]:
                continue
            client = listener.accept()[0]
            with client, socket.create_connection(server) as upstream, suppress(OSError):
                self._pass(client, upstream)

    def _pass(self, client: socket.socket, upstream: socket.socket) -> None:
        while not self.stop.is_set():
            for ready in select.select([client, upstream], [], [], 0.05)[0]:
                data = ready.recv(4096)
                if not data:
                    return
                if ready is client:
                    upstream.sendall(data)
                    continue
                self.sent += len(data)
                if self.most is not None and self.sent > self.most:
                    self._drop(client, data)
                    return
                client.sendall(data)

    def _drop(self, client: socket.socket, data: bytes) -> None:
        client.sendall(data[: len(data) // 2])
        if self.abrupt:  # no linger: the client gets a reset
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@contextmanager
def proxy_to(url: str) -> Iterator[Proxy]:
    parts = urlsplit(url)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        proxy = Proxy(url.replace(f":{parts.port}/", f":{port}/"))
        thread = threading.Thread(target=proxy.serve, args=(listener, (str(parts.hostname), int(parts.port or 0))))
        thread.start()
        try:
            yield proxy
        finally:
            proxy.stop.set()
            thread.join()
