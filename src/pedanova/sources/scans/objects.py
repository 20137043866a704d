"""Find and open files in object stores and on web servers by their URL.

`s3://`, `gs://` and `az://` use pyarrow's compiled file systems; `hf://` and `http(s)://` use fsspec. Only these
libraries handle credentials (from the environment, configuration or roles). A URL with a password raises an error. The
query of a URL is never shown, because it may contain a signature.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePath, PurePosixPath
from typing import Any, TypeVar
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from pedanova.errors import DataError, MissingLibraryError, missing_library

Read = TypeVar("Read")
WEB = ("http", "https")
STORES = ("s3", "gs", "gcs", "az", "abfs", "abfss", "hf")
CHECKSUMS = "AWS_RESPONSE_CHECKSUM_VALIDATION"  # an option of AWS's own libraries
FINAL = ("ACCESS_DENIED", "NO_SUCH", "NOT_FOUND", "INVALID_ACCESS_KEY", "SIGNATURE")  # a retry does not help
FOREIGN = ("aiohttp", "fsspec", "huggingface_hub", "httpx", "requests")  # libraries whose errors have no common type
GONE = (404, 410)  # statuses of a web server that has no such file
TRIES = 3  # attempts, in addition to those of the store's library
PAUSE = 0.25  # seconds after the first failure, doubled after each further one
MOST_BYTES = 1 << 30  # bytes of a file that is downloaded as a whole


@dataclass(frozen=True, slots=True)
class ObjectFile:
    """The URL of a remote file; this object can be sent to another process."""

    url: str

    def __str__(self) -> str:
        return shown_address(self.url)

    @property
    def path(self) -> PurePosixPath:
        return PurePosixPath(unquote(urlsplit(self.url).path))

    def open(self) -> Any:
        filesystem, path = opened_store(self.url)
        with plain_words(self.url):
            return filesystem.open_input_file(path)

    def state(self) -> tuple[int, int]:
        """The file's size in bytes and its modification time in nanoseconds (0 if unknown)."""
        filesystem, path = opened_store(self.url)
        with plain_words(self.url):
            info = retried(lambda: filesystem.get_file_info(path))
        if info.type.name != "File":
            check_answer(filesystem, path)
            raise FileNotFoundError(f"{self} does not exist; check the address")
        if info.size is None:
            raise OSError(f"{self} cannot be read in parts, because the server does not report its size; download it")
        return int(info.size), int(info.mtime_ns or 0)

    def bring(self, folder: Path) -> Path:
        """Download the file to `folder`, for formats that are read as a whole."""
        size, _ = self.state()
        if size > MOST_BYTES:
            words = f"{self} is too large to be read over the network ({size:,} bytes)"
            raise DataError(f"{words}; download it, or convert to Parquet")
        place = folder / self.path.name

        def copy() -> None:
            with self.open() as source:
                place.write_bytes(source.read())
            if place.stat().st_size != size:
                raise OSError(f"the download of {self} stopped after {place.stat().st_size:,} of {size:,} bytes")

        retried(copy)
        return place


def is_object(place: object) -> bool:
    """Whether a value is the URL of a table in an object store, or of a table's file on a web server."""
    if not isinstance(place, str) or "://" not in place:
        return False
    address = urlsplit(place)
    if address.scheme in WEB:  # other addresses, such as tracking servers, are not tables
        return PurePosixPath(address.path).suffix.lower() in TABLE_SUFFIXES
    return address.scheme in STORES


TABLE_SUFFIXES = (".parquet", ".pq", ".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".arrow", ".feather", ".ipc", ".gz")


def located(place: str) -> Path | ObjectFile:
    return ObjectFile(place) if is_object(place) else Path(place)


def path_of(file: Path | ObjectFile) -> PurePath:
    return file.path if isinstance(file, ObjectFile) else file


def shown_address(url: str) -> str:
    """The URL without password and query (which may contain a signature), for messages."""
    address = urlsplit(url)
    return f"{address.scheme}://{address.netloc.rpartition('@')[2]}{address.path}"


def find_objects(place: str) -> list[ObjectFile]:
    """The files at a URL, which is one file, a pattern, or a folder of Parquet files; hidden files are left out."""
    address = urlsplit(place)
    pattern = unquote(address.path)
    if any(sign in pattern for sign in "*["):
        before = re.split(r"[*\[]", pattern, maxsplit=1)[0].rpartition("/")[0]
        rule = re.compile(as_expression(pattern))
        inside = [one for one in below(place, before) if rule.fullmatch(unquote(urlsplit(one).path))]
        lacking = "matches no file; check the pattern"
    elif address.scheme in WEB or PurePosixPath(pattern).suffix:
        return [ObjectFile(place)]
    else:
        inside = [one for one in below(place, pattern) if one.partition("?")[0].endswith(".parquet")]
        lacking = "holds no Parquet file; check the address"
    if not inside:
        raise DataError(f"{shown_address(place)} {lacking}")
    return [ObjectFile(one) for one in inside]


def below(place: str, folder: str) -> list[str]:
    """The sorted URLs of all files in a folder of the store, at any depth, without hidden files."""
    from pyarrow import fs

    if urlsplit(place).scheme in WEB:
        raise DataError(f"{shown_address(place)}: a web server cannot list its files; name one file")
    address = urlsplit(place)
    filesystem, path = opened_store(address._replace(path=folder.rstrip("/")).geturl())
    infos = _found(place, filesystem, fs.FileSelector(path, recursive=True, allow_not_found=True))
    files = sorted(info.path for info in infos if info.type.name == "File")
    relative = [file.removeprefix(path).lstrip("/") for file in files]
    shown = [name for name in relative if not any(part.startswith((".", "_")) for part in name.split("/"))]
    base = folder.rstrip("/")
    return [address._replace(path=f"{base}/{name}").geturl() for name in shown]


def folders_among(place: str, paths: Sequence[PurePath]) -> list[PurePath]:
    """Those of `paths` in the store of `place` that are folders."""
    filesystem, root = opened_store(urlsplit(place)._replace(path="").geturl())
    infos = _found(place, filesystem, [f"{root}/{str(path).lstrip('/')}" for path in paths])
    return [path for path, info in zip(paths, infos, strict=True) if info.type.name == "Directory"]


def _found(place: str, filesystem: Any, wanted: Any) -> list[Any]:
    try:
        with plain_words(place):
            return list(retried(lambda: filesystem.get_file_info(wanted)))
    except OSError as error:
        raise DataError(f"{error}; check the address and your permissions") from None


def as_expression(pattern: str) -> str:
    """A path pattern as a regular expression; ** matches any number of folders."""
    pieces = re.split(r"(\*\*/|\*\*|\*|\[[^\]]+\])", pattern)
    known = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*"}
    return "".join(known.get(piece, piece if piece.startswith("[") else re.escape(piece)) for piece in pieces)


def opened_store(url: str) -> tuple[Any, str]:
    address = urlsplit(url)
    user, at, _ = address.netloc.rpartition("@")
    if at and address.scheme not in ("abfs", "abfss") and user != "anonymous":
        words = f"{shown_address(url)}: credentials do not belong in an address; set environment variables"
        raise DataError(f"{words}, or use the configuration files of your cloud provider")
    inner = unquote(address.path)
    if address.scheme in WEB:
        return web_system(address.scheme), url
    if address.scheme == "hf":
        return web_system("hf"), f"{address.netloc}{inner}"
    bucket = address.netloc.rpartition("@")[2]
    system = store_system(address._replace(path="", fragment=""))
    return system, (f"{user}{inner}" if address.scheme in ("abfs", "abfss") and at else f"{bucket}{inner}")


@lru_cache(maxsize=32)
def store_system(address: SplitResult) -> Any:
    try:
        from pyarrow import fs
    except ImportError:
        raise missing_library(f"{address.scheme}:// needs pyarrow", "arrow") from None
    if address.scheme == "s3":
        return s3_system(address)
    if address.scheme == "az":
        account = os.environ.get("AZURE_STORAGE_ACCOUNT") or os.environ.get("AZURE_STORAGE_ACCOUNT_NAME")
        if not account:
            raise DataError("az://… needs the name of the storage account; set AZURE_STORAGE_ACCOUNT")
        address = address._replace(scheme="abfs", netloc=f"{address.netloc}@{account}.dfs.core.windows.net")
    with plain_words(address.geturl()):
        made, _ = fs.FileSystem.from_uri(address.geturl())
    return made


def s3_system(address: SplitResult) -> Any:
    """The S3 file system for a URL; the URL's query overrides the environment, `anonymous@` means no credentials."""
    from pyarrow import fs

    user, _, bucket = address.netloc.rpartition("@")
    host, scheme, region = server_of(address.geturl())
    region = region or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or ""
    with plain_words(address.geturl()), spared_checksums():
        return fs.S3FileSystem(
            region=region or (None if host else fs.resolve_s3_region(bucket)),
            endpoint_override=host or None,
            scheme=scheme,
            anonymous=user == "anonymous",
            retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=3),
        )


def server_of(place: str) -> tuple[str, str, str]:
    """The host, scheme and region for an S3 URL: from its query first, then from the environment."""
    wanted = dict(parse_qsl(urlsplit(place).query))
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
    scheme, _, host = endpoint.rpartition("://")
    host = wanted.get("endpoint_override", host.rstrip("/"))
    return host, wanted.get("scheme") or scheme or "https", wanted.get("region", "")


@contextmanager
def spared_checksums() -> Iterator[None]:
    """A context manager that disables S3 checksums, to halve the CPU time, unless the user has set this option.

    With checksums, AWS's library looks up five headers for every 16 kB. These checksums are of no use, because Parquet
    files are read in ranges of bytes, and stores send no checksum for a range.
    """
    if CHECKSUMS in os.environ:
        yield
        return
    os.environ[CHECKSUMS] = "when_required"
    try:
        yield
    finally:
        os.environ.pop(CHECKSUMS, None)


@lru_cache(maxsize=4)
def web_system(scheme: str) -> Any:
    try:
        import fsspec
        from pyarrow import fs

        return fs.PyFileSystem(fs.FSSpecHandler(fsspec.filesystem(scheme)))
    except ImportError as error:
        words = f"{scheme}:// cannot be read: {error}"
        if scheme == "hf":
            raise MissingLibraryError(f"{words}; pip install huggingface_hub") from None
        raise missing_library(words, "web") from None


def check_answer(filesystem: Any, url: str) -> None:
    """Raise an error if a web server cannot be reached or refuses to answer; fsspec reports both as a missing file."""
    try:
        if hasattr(filesystem, "handler"):
            filesystem.handler.fs.info(url)
    except FileNotFoundError as error:
        cause, status = error.__cause__, getattr(error.__cause__, "status", None)
        if isinstance(cause, OSError) and not isinstance(cause, FileNotFoundError):
            why = "the server cannot be reached; check the address and your network"
            raise OSError(f"{shown_address(url)}: {why}") from None
        if status not in (None, *GONE):
            why = f"the server answers with status {status}; check the address and your permissions"
            raise OSError(f"{shown_address(url)}: {why}") from None


def retried(read: Callable[[], Read]) -> Read:
    """Call `read`, and call it again if the server is busy; if the file is missing, raise the error at once."""
    for number in range(TRIES - 1):
        try:
            return read()
        except (FileNotFoundError, PermissionError):
            raise
        except OSError as error:
            if any(word in str(error) for word in FINAL):
                raise
            time.sleep(PAUSE * 2**number)
    return read()


@contextmanager
def plain_words(url: str) -> Iterator[None]:
    """A context manager that shortens errors of a store's library to one line without the secrets of the URL."""
    try:
        yield
    except FileNotFoundError:
        raise FileNotFoundError(f"{shown_address(url)} does not exist; check the address") from None
    except Exception as error:  # the libraries of stores have no common error type
        if not isinstance(error, OSError | ValueError) and type(error).__module__.partition(".")[0] not in FOREIGN:
            raise
        raise OSError(f"{shown_address(url)}: {without_secrets(str(error), url)}") from None


def without_secrets(message: str, url: str) -> str:
    """The first line of an error message, without the query of the URL and without request ids."""
    first = next(iter(message.strip().splitlines()), "no answer")
    query = urlsplit(url).query
    clean = first.replace(url, shown_address(url)) if url else first
    clean = clean.replace(query, "…") if query else clean
    return re.sub(r"\s*\(Request ID: [^)]*\)", "", clean).rstrip(". ")
