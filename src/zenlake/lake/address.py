"""Addresses of captures and lakes, on this machine or in an object store.

    caps/x.pcap   ./caps/x.pcap   file:///home/me/caps/x.pcap      one local file, one address
    s3://bucket/caps/x.pcap       s3a://bucket/caps/x.pcap         one object, one address

Local files are opened by Python, others through `pyarrow.fs`, which takes credentials, region and
endpoint from the environment (see its documentation); delta-rs reads the same variables.
"""

from __future__ import annotations

import os
import re
from functools import cached_property
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from zenlake.errors import LocalError

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

LOCAL: Final = "file"
_ALIASES: Final = {
    "file": LOCAL,
    "s3": "s3",
    "s3a": "s3",
    "s3n": "s3",
    "gs": "gs",
    "gcs": "gs",
    "hdfs": "hdfs",
    "viewfs": "viewfs",
}
KNOWN: Final = ("file:", "s3://", "s3a://", "gs://", "hdfs://")
"""Schemes that error messages name; the other schemes are older names."""
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(?=/)")
_MISSPELT: Final = re.compile(r"(s3|s3a|s3n|gs|gcs|hdfs|viewfs)(?://|:(?!/))", re.IGNORECASE)
"""The scheme of a store without its colon or its slashes."""
_SLASHES: Final = re.compile(r"/{2,}")
_ROOT: Final = re.compile(r"[^/]+/+[^/]*")
_CREDENTIALS: Final = re.compile(
    r"^/*[^/]*@|[?&](access_key|secret_key|session_token)=", re.IGNORECASE
)
"""Keys before the name of a bucket, or in a query string, as some tools take them."""


class Address:
    """A normalized address: different texts for the same place give equal addresses."""

    __slots__ = ("__dict__", "path", "scheme")

    def __init__(self, scheme: str, path: str) -> None:
        self.scheme = scheme
        self.path = path
        """Absolute on this machine; `bucket/key` or `host/path` elsewhere."""

    @property
    def is_local(self) -> bool:
        return self.scheme == LOCAL

    @property
    def renames_cheaply(self) -> bool:
        """Whether files can be renamed; object stores would copy them."""
        return self.scheme in (LOCAL, "hdfs", "viewfs")

    def __str__(self) -> str:
        return self.path if self.is_local else f"{self.scheme}://{self.path}"

    def __repr__(self) -> str:
        return f"Address({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Address) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __truediv__(self, name: str) -> Address:
        return Address(self.scheme, f"{self.path.rstrip('/')}/{name}")

    @property
    def name(self) -> str:
        return self.path.rstrip("/").rpartition("/")[2]

    @cached_property
    def filesystem(self) -> FileSystem:
        """Arrow's file system for this address, in which the path is `fs_path`."""
        from pyarrow import fs

        if self.is_local:
            return fs.LocalFileSystem()
        if self.scheme == "s3":
            return fs.S3FileSystem(**_endpoint_options())
        return fs.FileSystem.from_uri(f"{self.scheme}://{self.path}")[0]

    @property
    def fs_path(self) -> str:
        """The path in `filesystem`: without the name node of HDFS."""
        if self.scheme in ("hdfs", "viewfs"):
            return "/" + self.path.partition("/")[2]
        return self.path


def s3_endpoint() -> str:
    """The endpoint of a store that is not Amazon's, from the variables of Amazon's tools."""
    return os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""


def _endpoint_options() -> dict[str, str]:
    """Arrow needs the endpoint as an argument."""
    endpoint = s3_endpoint()
    if not endpoint:
        return {}
    scheme, separator, host = endpoint.partition("://")
    if not separator:
        return {"endpoint_override": endpoint}
    return {"endpoint_override": host.rstrip("/"), "scheme": scheme}


def is_stored(text: str) -> bool:
    """Whether a text is an address in a store; an existing local file is none."""
    match = _SCHEME.match(text)
    if match is None or _ALIASES.get(match[1].lower(), LOCAL) == LOCAL:
        return False
    return not os.path.lexists(text)


def split_root(text: str) -> tuple[str, str]:
    """An address in a store as its scheme with bucket or host, and the path in it."""
    match = _ROOT.match(text)
    root = match[0] if match else text
    return root, text[len(root) :]


def parse(text: str | os.PathLike[str]) -> Address:
    """Parses a path or an address. An unknown scheme is an error, not the name of a folder."""
    text = os.fspath(text)
    match = _SCHEME.match(text)
    misspelt = _MISSPELT.match(text)
    if misspelt is not None and not os.path.lexists(text):
        _check_no_credentials(misspelt[1], text[misspelt.end() :])
        whole = f"{misspelt[1]}://{text[misspelt.end() :]}"
        raise LocalError(f"{text}: write {whole} for the address, ./{text} for a local path")
    if match is None or os.path.lexists(text):
        return Address(LOCAL, os.path.abspath(text))
    scheme = _ALIASES.get(match[1].lower())
    if scheme is None:
        known = ", ".join(KNOWN)
        raise LocalError(f"{text}: unknown address scheme {match[1]!r}, known are {known}")
    rest = text[match.end() :]
    if scheme == LOCAL:
        host, path = _host_and_path(rest)
        if host not in ("", "localhost"):
            raise LocalError(f"{text}: a file: address names no host")
        return Address(LOCAL, os.path.normpath(unquote(path)))
    if scheme in ("s3", "gs"):
        _check_no_credentials(match[1], rest)
    path = _SLASHES.sub("/", rest.lstrip("/")).rstrip("/")
    if not path:
        raise LocalError(f"{text}: the address names no bucket or host")
    if any(part in (".", "..") for part in path.split("/")):
        raise LocalError(f"{text}: an address has no '.' or '..' in it")
    return Address(scheme, path)


def _host_and_path(rest: str) -> tuple[str, str]:
    """Splits the text after `file:`, which is `/path`, `///path` or `//host/path`."""
    if rest.startswith("//"):
        host, _, path = rest[2:].partition("/")
        return host, f"/{path}"
    return "", rest


def _check_no_credentials(scheme: str, rest: str) -> None:
    """LocalError for an address with credentials, which messages and tables would show."""
    if _CREDENTIALS.search(rest):
        raise LocalError(
            f"{scheme}://...: the address has credentials in it: set them in the environment"
        )
