"""How samples of every rule are read: by columns, by columns and again, or by the exact reader.

python -m tests.lake.merge.screened_rules
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.lake.fast_reader.captures import surveyed
from tests.lake.merge.both_readers import Row, read_by_both_readers, read_by_exact_reader
from tests.rules.captures import made_of
from tests.rules.faults import FAULTS, Fault
from zenlake.lake.fast_reader.assemble import reasons
from zenlake.lake.fast_reader.columns import columnar_reader
from zenlake.lake.fast_reader.screening.screen import Screen

SEED = 2
"""The segments of this seed contain whole handshakes, which regular connections need."""
COLUMNS = "columns"
AGAIN = "again"
EXACT = "exact"
_REGULAR: dict[str, Any] = {"protocol": "tcp", "compression": False}
"""Options that make connections regular, if the fault allows it."""


class Read(NamedTuple):
    """One sample, read by both readers."""

    fault: Fault
    expected: list[Row]
    found: list[Row]
    way: str
    """How the connection with the broken rule was read."""
    refusals: set[str]
    """Why connections of the capture are irregular, as names in `reasons`."""


def samples() -> Iterator[Fault]:
    for faults in FAULTS.values():
        for fault in faults:
            yield fault._replace(options=_REGULAR | fault.options)


def read(folder: Path, fault: Fault, seed: int) -> Read:
    path = str(made_of(folder / "made.pcapng", seed, fault).path)
    expected = sorted(read_by_exact_reader(path)["violations"], key=_order)
    survey = surveyed(path)
    with _screens() as screens:
        found = read_by_both_readers(path, survey)["violations"]
    links = {row["link"] for row in expected if row["rule"] == fault.rule}
    names = {pair: survey.link_name(pair) for pair in np.flatnonzero(survey.regular).tolist()}
    doubted = {names[pair] for pair in names if any(one.doubted[pair] for one in screens)}
    way = AGAIN if links & doubted else COLUMNS if links & set(names.values()) else EXACT
    words = {code: name for name, code in vars(reasons).items() if name.isupper()}
    refusals = {words[code] for code in survey.reason[~survey.regular].tolist()}
    return Read(fault, expected, sorted(found, key=_order), way, refusals)


def _order(row: Row) -> tuple[int, str, str]:
    return row["packet"], row["rule"], row["message"]


@contextmanager
def _screens() -> Iterator[list[Screen]]:
    """Collects the screens that are made inside the block."""
    made: list[Screen] = []

    class Noted(Screen):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            made.append(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columnar_reader, "Screen", Noted)
        yield made


def main() -> None:
    counts: dict[str, Counter[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for fault in samples():
            one = read(Path(folder), fault, SEED)
            counts.setdefault(fault.rule, Counter())[one.way] += 1
            if one.found != one.expected:
                print(f"{fault.rule}, {fault.break_rule.__name__}: the readers differ")
    for rule, ways in counts.items():
        print(f"{rule:32} {', '.join(f'{way} {count}' for way, count in ways.items())}")
    print(Counter(way for ways in counts.values() for way in ways))


if __name__ == "__main__":
    main()
