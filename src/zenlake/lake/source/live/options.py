"""Options of a stream, checked before anything is read."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Mapping
from typing import Final, NamedTuple

from zenlake.errors import LocalError
from zenlake.keyexpr import canonize
from zenlake.lake.plan.inputs import local_path
from zenlake.lake.schema.table import Table
from zenlake.lake.source.live.offsets import Offset, parse_offset_text
from zenlake.lake.source.options import (
    PARTITIONS_MAX,
    Options,
    check_names,
    flag,
    has_path,
    moment_ns,
    read_options,
    shown,
)

STREAM_ONLY: Final = (
    *("connect", "startingOffsets", "startingTimestamp", "maxBytesPerTrigger"),
    *("maxFilesPerTrigger", "minPartitions", "failOnDataLoss", "subscribe"),
    *("recordingLocation", "checkpointLocation"),
)
"""Options that only streams have; `connect` is an option of writers, too."""
KNOWN: Final = ("table", "key", "kind", *STREAM_ONLY)
_NAMES: Final = frozenset(name.lower() for name in STREAM_ONLY)
_NETWORK: Final = ("connect", "subscribe", "recordingLocation")
_LISTED_MAX: Final = 64

READ_TABLES: Final = ("batches", "messages", "samples")
"""Tables with one row for each batch or message; a row appears as soon as that is recorded."""
SETTLED_TABLES: Final = ("queries", "replies")
"""Tables whose rows appear when the outcome of the query is certain."""

EARLIEST: Final = "earliest"
LATEST: Final = "latest"
_SIZE: Final = re.compile(r"([0-9]{1,18})([kmgt]?)b?", re.IGNORECASE)
_UNITS: Final = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


class Network(NamedTuple):
    """A network whose publications are recorded while the query runs."""

    endpoints: tuple[str, ...]
    keys: tuple[str, ...]


class StreamOptions(NamedTuple):
    """The folder to follow, the offset to start from, and the limits of a micro-batch."""

    rows: Options
    """The table and the conditions."""
    start: str | Offset = EARLIEST
    start_ns: int | None = None
    bytes_max: int | None = None
    files_max: int | None = None
    partitions_min: int = 1
    fails_on_loss: bool = True
    network: Network | None = None
    """The network to record, if there is no path."""

    @property
    def path(self) -> str:
        return self.rows.paths[0]

    @property
    def table(self) -> Table:
        return self.rows.table


def has_stream_options(given: Mapping[str, str]) -> bool:
    """Whether an option is set that only streams have."""
    return any(name.lower() in _NAMES for name in given)


def read_stream_options(given: Mapping[str, str]) -> StreamOptions:
    """Parses options, whose names may be in any case; error at the first invalid one."""
    options = {name.lower(): value for name, value in given.items()}
    check_names(options, KNOWN)
    network = _network(options)
    of_rows = {name: text for name, text in options.items() if name not in _NAMES}
    if network is not None:
        of_rows["path"] = _recording_location(options, network)
    rows = read_options(of_rows)
    if len(rows.paths) != 1:
        raise LocalError("a stream follows one folder: pass one path to load()")
    _check_table(rows.table.name)
    start, start_ns = _start(options)
    return StreamOptions(
        rows=rows,
        start=start,
        start_ns=start_ns,
        bytes_max=_bytes(options.get("maxbytespertrigger")),
        files_max=_count("maxFilesPerTrigger", options.get("maxfilespertrigger"), (1 << 31) - 1),
        partitions_min=_count("minPartitions", options.get("minpartitions"), PARTITIONS_MAX) or 1,
        fails_on_loss=flag("failOnDataLoss", options, "true"),
        network=network,
    )


def _network(options: Mapping[str, str]) -> Network | None:
    given = [name for name in _NETWORK if name.lower() in options]
    if not given and "checkpointlocation" in options:
        raise LocalError(
            "option checkpointLocation is for the writer; a reader that records a network "
            "(connect and subscribe) stores the recording beside it"
        )
    if not given:
        return None
    if has_path(options):
        raise LocalError(f"option {given[0]} is for a network: pass no path with it")
    for name in _NETWORK[:2]:
        if name not in options:
            raise LocalError(f"option {name} is missing: a network needs connect and subscribe")
    endpoints, keys = (_listed(name, options[name]) for name in _NETWORK[:2])
    for endpoint in endpoints:
        if not re.fullmatch(r"[a-z0-9]+/\S+", endpoint):
            raise LocalError(f"option connect is such as tcp/host:7447, not {shown(endpoint)}")
    return Network(endpoints, tuple(canonize(key) for key in keys))


def _listed(name: str, text: str) -> tuple[str, ...]:
    found = tuple(one.strip() for one in text.split(",") if one.strip())
    if not 0 < len(found) <= _LISTED_MAX:
        raise LocalError(f"option {name} lists 1 to {_LISTED_MAX} values, separated by commas")
    return found


def _recording_location(options: Mapping[str, str], network: Network) -> str:
    given = options.get("recordinglocation")
    if given is not None:
        return given
    checkpoint = options.get("checkpointlocation")
    if checkpoint is not None:
        return local_path(checkpoint).rstrip("/") + ".recording"
    return default_location(network)


def default_location(network: Network) -> str:
    """The folder of a recording that no option names, the same after a restart on this machine.

    It cannot be derived from the checkpoint: Spark 4.3 passes its location to
    `PythonScan.toMicroBatchStream`, which drops it. The planning process gets the options of the
    reader, the schema and the size of Arrow batches, but neither the options of the writer nor the
    configuration of the session.
    """
    name = hashlib.sha256(repr(network).encode()).hexdigest()[:32]
    return os.path.join(tempfile.gettempdir(), f"zenlake-streams-{os.getuid()}", name)


def _check_table(name: str) -> None:
    if name in READ_TABLES or name in SETTLED_TABLES:
        return
    raise LocalError(
        f"readStream has the tables {', '.join(READ_TABLES + SETTLED_TABLES)}; rows of {name}"
        " change with later traffic: zenlake pipeline --follow keeps them in a lake, which"
        " lake.open reads"
    )


def _start(options: Mapping[str, str]) -> tuple[str | Offset, int | None]:
    text = options.get("startingoffsets")
    moment = options.get("startingtimestamp")
    if moment is not None:
        if text is not None:
            raise LocalError("use startingOffsets or startingTimestamp, not both")
        return EARLIEST, moment_ns("startingTimestamp", moment)
    if text is None:
        return EARLIEST, None
    word = text.strip().lower()
    if word in (EARLIEST, LATEST):
        return word, None
    if not word.startswith("{"):
        expected = f"{EARLIEST}, {LATEST}, or an offset in JSON"
        raise LocalError(f"option startingOffsets is {expected}, not {shown(text)}")
    return parse_offset_text(text, "option startingOffsets"), None


def _bytes(text: str | None) -> int | None:
    if text is None:
        return None
    match = _SIZE.fullmatch(text.strip())
    size = int(match[1]) * _UNITS[match[2].lower()] if match else 0
    if not 0 < size < 1 << 63:
        raise LocalError(f"option maxBytesPerTrigger is a size such as 64m, not {shown(text)}")
    return size


def _count(name: str, text: str | None, largest: int) -> int | None:
    if text is None:
        return None
    if not re.fullmatch("[0-9]{1,10}", text.strip()) or not 1 <= int(text) <= largest:
        raise LocalError(f"option {name} is from 1 to {largest}, not {shown(text)}")
    return int(text)
