"""In one scenario, our router sends the messages of a real one, except explained differences."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.interop.puppets import ours, theirs
from tests.interop.router_messages import difference, messages_of, reason
from zenlake import rules, trace
from zenlake.rules import NOTE

pytest.importorskip("zenoh", reason="eclipse-zenoh has no wheel for this Python")
pytestmark = pytest.mark.real

IS_FULL = os.environ.get("ZENLAKE_INTEROP") == "full"

if IS_FULL:  # it waits for silence after each of fifty acts

    def test_messages_are_those_of_a_real_router(tmp_path: Path) -> None:
        mine = messages_of(ours(), tmp_path / "ours.pcapng")
        real = messages_of(theirs()[0], tmp_path / "real.pcapng")
        assert real.total() > 100
        unexplained = [one for one in difference(mine, real) if not reason(one[0], one[1])]
        assert not unexplained
        found = rules.check(trace.open(str(tmp_path / "ours.pcapng")))
        broken = [one for one in found if one.rule.severity != NOTE]
        assert not broken, broken
