"""The bulk road: from a capture file to batches at memory speed, where all is in order.

    found = survey("robot.pcapng")
    if isinstance(found, Survey):
        for chunk in read("robot.pcapng", found, found.regular):
            ...

A connection is regular if the scalar road (`zenlake.trace`) would read every byte of it without
a remark. The packets of all others come out as they are, for that road to read.
"""

from __future__ import annotations

from zenlake.lake.bulk.capture_file import Refusal
from zenlake.lake.bulk.reader import Chunk, read
from zenlake.lake.bulk.surveyed import Survey
from zenlake.lake.bulk.surveyor import survey

__all__ = ["Chunk", "Refusal", "Survey", "read", "survey"]
