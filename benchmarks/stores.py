"""Parquet in an S3 server on this machine: CPU and memory of `analyze`, against the same files on the disk.

    python benchmarks/stores.py [rows [repeats]]        by default 10^7 and 3

The server is Moto's, a process of its own whose CPU does not count. Each measurement is a process, on one thread, and
reads the store and the disk in turn; the median is shown. What differs is the way of the bytes, and what is kept.
A file has at most 1.25 million rows, or an eighth of them: for every part of an object Moto reads all of it.
"""

from __future__ import annotations

import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from pyarrow import fs, parquet
from streaming import OURS_SETUP, OURS_WORK, REPEATS, SPACES, measure, write

FILES, ROWS_A_FILE = 8, 1_250_000
KEYS = {"AWS_ACCESS_KEY_ID": "bench", "AWS_SECRET_ACCESS_KEY": "bench", "AWS_REGION": "us-east-1"}


def start_server() -> tuple[subprocess.Popen[bytes], str]:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    server = subprocess.Popen([sys.executable, "-m", "moto.server", "-p", str(port)], **quiet)
    for _ in range(300):
        with closing(socket.socket()) as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return server, f"127.0.0.1:{port}"
        time.sleep(0.2)
    raise SystemExit("Moto's server does not start; pip install 'moto[s3,server]'")


def upload(folder: Path, host: str) -> None:
    store = fs.S3FileSystem(endpoint_override=host, scheme="http", allow_bucket_creation=True, region="us-east-1")
    store.create_dir("data")
    fs.copy_files(str(folder), "data", destination_filesystem=store)


def main() -> None:
    rows = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**7
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else REPEATS
    os.environ.update(KEYS)
    server, host = start_server()
    os.environ["AWS_ENDPOINT_URL"] = f"http://{host}"
    try:
        with tempfile.TemporaryDirectory() as folder:
            files = max(FILES, rows // ROWS_A_FILE)
            for number in range(files):
                write(Path(folder) / f"part-{number}.parquet", "floats", rows // files)
            upload(Path(folder), host)
            show(files, {"disk": folder, "store": "s3://data"}, repeats)
    finally:
        server.terminate()


def show(files: int, places: dict[str, str], repeats: int) -> None:
    work = OURS_WORK.format(options=f", space={SPACES['floats']}")
    runs: dict[str, list[tuple[float, float]]] = {name: [] for name in places}
    for _ in range(repeats):
        for name, place in places.items():
            runs[name].append(measure(OURS_SETUP.format(file=place), work))
    base = statistics.median(seconds for seconds, _ in runs["disk"])
    rows = sum(parquet.read_metadata(file).num_rows for file in Path(places["disk"]).iterdir())
    print(f"{rows:,} rows x 5 in {files} files\nwhere   CPU s   ratio   peak MB")
    for name, found in runs.items():
        seconds = statistics.median(one for one, _ in found)
        print(f"{name:<7} {seconds:5.2f}   {seconds / base:5.2f}   {max(peak for _, peak in found):7.0f}")


if __name__ == "__main__":
    main()
