"""The fast reader: from a capture file to batches at memory speed, where all is in order.

    found = survey("robot.pcapng")
    if isinstance(found, Survey):
        for chunk in read("robot.pcapng", found, found.regular):
            ...

A connection is regular if the exact reader (`zenlake.trace`) would read every byte of it without
a remark. The packets of all others come out as they are, for that road to read.

Kernels are loaded when the first of these is asked for; small captures do without.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zenlake.lake.fast_reader.assemble.reader import Chunk, read
    from zenlake.lake.fast_reader.scan.capture_file import Refusal
    from zenlake.lake.plan.survey.survey import Survey
    from zenlake.lake.plan.survey.surveyor import check, index, survey

__all__ = ["Chunk", "Refusal", "Survey", "check", "index", "read", "survey"]

_HOMES = {
    "Chunk": "zenlake.lake.fast_reader.assemble.reader",
    "Refusal": "zenlake.lake.fast_reader.scan.capture_file",
    "Survey": "zenlake.lake.plan.survey.survey",
    "check": "zenlake.lake.plan.survey.surveyor",
    "index": "zenlake.lake.plan.survey.surveyor",
    "read": "zenlake.lake.fast_reader.assemble.reader",
    "survey": "zenlake.lake.plan.survey.surveyor",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
