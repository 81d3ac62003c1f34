"""Screening follows the declarations of the rules; rules without a declaration are evaluated."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lake.merge.screened_rules import AGAIN, SEED, read, samples
from zenlake.lake.fast_reader.screening import generate, rule_selection, vocabulary
from zenlake.rules import RULES
from zenlake.rules.screens import Condition

UNDECLARED = (
    *("put-to-many", "batch-too-large", "frame-empty", "control-qos", "response-final-missing"),
)


def test_conditions_are_those_that_rules_declare() -> None:
    folder = generate.FOLDER
    assert (folder / "codes.py").read_text("utf-8") == generate.codes()
    assert (folder / "conditions.py").read_text("utf-8") == generate.conditions()


@pytest.mark.parametrize(
    "condition", ["color == 3", "has.color", "key.is_blue", "len(qos)", "qos == 'x'", "[qos]"]
)
def test_condition_outside_the_vocabulary_is_refused(condition: str) -> None:
    with pytest.raises(vocabulary.UnknownWord):
        vocabulary.in_kernel(condition)


def test_translated_conditions_keep_their_precedence() -> None:
    assert vocabulary.in_kernel("not has.qos").startswith("not present & ")
    found = vocabulary.in_kernel("key.is_bad or not key.is_wide")
    assert found == "key_flags & BAD or not key_flags & WIDE"


@pytest.fixture
def fresh_selection() -> Iterator[None]:
    caches = [one for one in vars(rule_selection).values() if hasattr(one, "cache_clear")]
    for one in caches:
        one.cache_clear()
    yield
    for one in caches:
        one.cache_clear()


@pytest.mark.usefixtures("fresh_selection")
@pytest.mark.parametrize("id", UNDECLARED)
def test_a_rule_without_a_declared_screen_is_still_evaluated(
    id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RULES[id], "screen", None)
    for fault in (one for one in samples() if one.rule == id):
        one = read(tmp_path, fault, SEED)
        assert one.found == one.expected
        assert one.way == AGAIN or id == "control-qos"  # the checker gets all declarations


@pytest.mark.usefixtures("fresh_selection")
def test_a_condition_missing_in_the_kernel_is_still_evaluated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for id in ("put-to-many", "control-qos"):
        monkeypatch.setattr(RULES[id], "screen", Condition("sn > 3"))
    monkeypatch.setattr(rule_selection, "bits", lambda: {})
    for fault in (one for one in samples() if one.rule in ("put-to-many", "control-qos")):
        one = read(tmp_path, fault, SEED)
        assert one.found == one.expected


def test_kernel_has_the_same_result_in_plain_python(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path\n"
        "from tests.lake.merge.screened_rules import SEED, read, samples\n"
        "for fault in samples():\n"
        "    if fault.rule in ('timestamp-ahead', 'integer-not-minimal', 'lease-exceeded'):\n"
        f"        one = read(Path({str(tmp_path)!r}), fault, SEED)\n"
        "        assert one.found == one.expected and one.way == 'columns', one\n"
        "        print(fault.rule)\n"
    )
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) == 4
