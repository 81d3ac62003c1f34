"""The node to which others connect in tests of faults: a router and, with ZENLAKE_FULL, a peer.

With `pytestmark = pytest.mark.usefixtures("host")`, `settings_of()` of tests/node and `listening()`
of tests/api make a node of that kind.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.chance import IS_FULL

PEER = "peer"
_MODES = [PEER]


def host_mode() -> str:
    return _MODES[-1]


@pytest.fixture(params=["router", PEER] if IS_FULL else ["router"])
def host(request: pytest.FixtureRequest) -> Iterator[str]:
    _MODES.append(request.param)
    yield host_mode()
    _MODES.pop()
