"""The fast reader: regular connections, from the capture file to Arrow tables, by kernels.

    found = survey("robot.pcapng")
    if isinstance(found, Survey):
        for chunk in read("robot.pcapng", found, found.regular):
            ...

Input: a capture file. Output: batches and tables of regular connections, and the packets of all
others, which the exact reader reads. A connection is regular if the exact reader (`zenlake.trace`)
would read every byte of it and report nothing.

    scan        records of the file to packets
    assemble    packets to connections, to batches
    regularity  which connections are regular, and where their packets are
    columns     batches to Arrow tables
    screening   which rules to evaluate for which messages

Names are imported on first use, because kernels take time to load; small captures do not need them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zenlake.lake.fast_reader.assemble.chunk_reader import Chunk, read
    from zenlake.lake.fast_reader.regularity.survey import Survey
    from zenlake.lake.fast_reader.regularity.surveyor import check, index, survey
    from zenlake.lake.fast_reader.scan.capture_file import Refusal

__all__ = ["Chunk", "Refusal", "Survey", "check", "index", "read", "survey"]

_MODULES = {
    "Chunk": "assemble.chunk_reader",
    "Refusal": "scan.capture_file",
    "Survey": "regularity.survey",
    "check": "regularity.surveyor",
    "index": "regularity.surveyor",
    "read": "assemble.chunk_reader",
    "survey": "regularity.surveyor",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
