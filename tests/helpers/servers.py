"""Real database servers for the tests: each on a free port, in a folder of its own, gone afterwards.

They come from Debian's packages `postgresql` and `mariadb-server`. Where they are not installed the
tests skip and say so, unless PEDANOVA_SERVERS=1, which turns that into a failure.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PASSWORD = "se:cr@t/?#%+ x"
PATIENCE = 60.0


def missing(what: str) -> None:
    reason = f"{what} is not installed (apt-get install postgresql mariadb-server)"
    if os.environ.get("PEDANOVA_SERVERS") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def find(program: str, *folders: str) -> str | None:
    hits = sorted(hit for folder in folders for hit in Path("/").glob(f"{folder.lstrip('/')}/{program}"))
    return shutil.which(program) or (str(hits[-1]) if hits else None)


def as_user(user: str, command: list[str]) -> list[str]:
    """Servers refuse to run as root."""
    return [str(find("runuser", "/usr/sbin", "/sbin")), "-u", user, "--", *command] if os.geteuid() == 0 else command


def run(command: list[str], **options: object) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, **options)  # type: ignore[call-overload]
    assert done.returncode == 0, f"{command}: {done.stdout}\n{done.stderr}"


def wait_for(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        assert server.poll() is None, f"the server ended at once: {log.read_text()}"
        with socket.socket() as probe:
            probe.settimeout(1)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError(f"the server does not answer: {log.read_text()}")


@contextmanager
def running(command: list[str], port: int, folder: Path) -> Iterator[None]:
    log = folder / "server.log"
    with log.open("wb") as output:
        server = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, cwd="/")
    try:
        wait_for(port, server, log)
        yield
    finally:
        server.terminate()
        server.wait(timeout=PATIENCE)


@contextmanager
def own_folder(user: str) -> Iterator[Path]:
    """A short path (sockets have a limit) that the server's user may write to."""
    folder = Path(f"/tmp/pedanova-{user}-{os.getpid()}")
    folder.mkdir(mode=0o755)
    if os.geteuid() == 0:
        shutil.chown(folder, user)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def postgresql() -> Iterator[str]:
    """The URL of a database called trials, owned by ann."""
    from urllib.parse import quote

    initdb = find("initdb", "/usr/lib/postgresql/*/bin")
    createdb = find("createdb", "/usr/lib/postgresql/*/bin")
    if initdb is None or createdb is None:
        missing("PostgreSQL")
    bin_folder, port = Path(str(initdb)).resolve().parent, free_port()  # a link may stand alone
    with own_folder("postgres") as folder:
        data = folder / "data"
        secret = folder / "secret"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        initialise = [str(initdb), "-D", str(data), "-U", "ann", "-A", "scram-sha-256", "-E", "UTF8"]
        run(as_user("postgres", [*initialise, f"--pwfile={secret}", "--no-sync"]), cwd="/")
        server = [str(bin_folder / "postgres"), "-D", str(data), "-p", str(port), "-k", str(folder), "-F"]
        server += ["-c", "listen_addresses=127.0.0.1"]
        with running(as_user("postgres", server), port, folder):
            environment = {**os.environ, "PGPASSWORD": PASSWORD}
            create = [str(createdb), "-h", "127.0.0.1", "-p", str(port), "-U", "ann", "trials"]
            for _ in range(100):
                done = subprocess.run(create, env=environment, capture_output=True, text=True, timeout=PATIENCE)
                if done.returncode == 0:
                    break
                time.sleep(0.2)
            assert done.returncode == 0, done.stderr
            try:
                yield f"postgresql://ann:{quote(PASSWORD, safe='')}@127.0.0.1:{port}/trials"
            finally:  # SIGTERM would wait for clients that are still connected
                os.kill(int((data / "postmaster.pid").read_text().split()[0]), signal.SIGINT)


@contextmanager
def mariadb() -> Iterator[str]:
    """The URL of a database called trials, with the user ann."""
    from urllib.parse import quote

    install, daemon = find("mariadb-install-db"), find("mariadbd", "/usr/sbin")
    if install is None or daemon is None:
        missing("MariaDB")
    port = free_port()
    with own_folder("mysql") as folder:
        data, start = folder / "data", folder / "start.sql"
        own = ["--no-defaults", f"--datadir={data}"]
        run(
            as_user("mysql", [str(install), *own, "--auth-root-authentication-method=normal", "--skip-test-db"]),
            cwd="/",
        )
        start.write_text(
            "CREATE DATABASE trials CHARACTER SET utf8mb4;\n"
            f"CREATE USER 'ann'@'%' IDENTIFIED BY '{PASSWORD}';\nGRANT ALL ON *.* TO 'ann'@'%';\n",
            encoding="utf-8",
        )
        server = [str(daemon), *own, f"--port={port}", "--bind-address=127.0.0.1", f"--socket={folder}/s"]
        server += [f"--pid-file={folder}/pid", f"--init-file={start}", "--innodb-flush-log-at-trx-commit=0"]
        server += ["--skip-name-resolve", "--character-set-server=utf8mb4"]
        with running(as_user("mysql", server), port, folder):
            yield f"mysql://ann:{quote(PASSWORD, safe='')}@127.0.0.1:{port}/trials"


@pytest.fixture(scope="module")
def postgresql_url() -> Iterator[str]:
    with postgresql() as url:
        yield url


@pytest.fixture(scope="module")
def mariadb_url() -> Iterator[str]:
    with mariadb() as url:
        yield url
