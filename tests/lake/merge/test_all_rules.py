"""Every rule, broken in a capture that both readers read: their findings are equal.

`python -m tests.lake.merge.screened_rules` lists how each rule is screened.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lake.merge.screened_rules import AGAIN, COLUMNS, EXACT, SEED, Read, read, samples
from tests.rules.faults import Fault
from zenlake.rules import RULES
from zenlake.rules.screens import Condition, Irregular, TrackedBy

SAMPLES = list(samples())


def test_every_rule_has_a_sample() -> None:
    assert {fault.rule for fault in SAMPLES} == set(RULES)


@pytest.mark.parametrize("fault", SAMPLES, ids=lambda one: f"{one.rule}-{one.break_rule.__name__}")
def test_both_readers_find_the_same_violations(fault: Fault, tmp_path: Path) -> None:
    one = read(tmp_path, fault, SEED)
    assert one.found == one.expected
    assert fault.rule in {row["rule"] for row in one.expected}
    _check_way(one)


def _check_way(one: Read) -> None:
    """Each declared condition must be reached by a sample, and must not refuse it."""
    screen = RULES[one.fault.rule].screen
    if isinstance(screen, Irregular):
        assert one.way == EXACT
        assert screen.because == "NOT_TCP" or screen.because in one.refusals
    elif isinstance(screen, Condition):
        assert one.way == (AGAIN if screen.once else COLUMNS)
    elif isinstance(screen, TrackedBy):
        assert one.way == (AGAIN if screen.part == "requests" else COLUMNS)
