"""The process that reads one recording for the driver.

The driver writes the arguments of a step to its standard input and reads the result from its
standard output, each as one line of JSON. The process ends when its input ends, so that it does
not outlive a killed driver.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from zenlake.errors import ZenlakeError
from zenlake.lake.follow.growing_reader import GrowingReader
from zenlake.recording.cursor import Cursor, Position


def main() -> int:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Results go to the pipe; anything that is printed goes to standard error.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        reader = _opened(json.loads(sys.stdin.readline()))
    except ZenlakeError as error:
        _answer(answers, {"failure": str(error)})
        return 1
    _answer(answers, {"packets": reader.number})
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            reader.read(asked["rows_max"])
            result = reader.write(Path(asked["folder"]))
        except ZenlakeError as error:
            result = {"failure": str(error)}
        _answer(answers, result)
    return 0


def _opened(asked: dict[str, Any]) -> GrowingReader:
    segment = asked["segment"]
    position = None if segment is None else Position(segment, 0)
    cursor = Cursor(asked["path"], position)
    facts = None if segment is None else asked["facts"]
    return GrowingReader(cursor, asked["capture"], asked["packets"], facts)


def _answer(answers: Any, result: dict[str, Any]) -> None:
    answers.write(json.dumps(result) + "\n")
    answers.flush()


if __name__ == "__main__":
    sys.exit(main())
