"""`WhatAmIMatcher` returns the same values as eclipse-zenoh's."""

from __future__ import annotations

import pytest

import zenlake
from tests.api.against import both
from zenlake import wire
from zenlake.api.values.whatami_matcher import into_matcher


@pytest.mark.parametrize(
    "text",
    ["router|peer", "peer|router", "", "bad", "router|", "peer|peer", " peer", "PEER", "a,b"],
)
def test_matcher_equals_that_of_eclipse_zenoh(text: str) -> None:
    for ask in (
        lambda z: z.WhatAmIMatcher(text),
        lambda z: z.WhatAmIMatcher(text).is_empty(),
        lambda z: z.WhatAmIMatcher(text).client(),
        lambda z: z.WhatAmIMatcher(text).matches(z.WhatAmI.PEER),
        lambda z: z.WhatAmI.ROUTER in z.WhatAmIMatcher(text),
        lambda z: z.WhatAmIMatcher(text).matches("peer"),
        lambda z: z.WhatAmIMatcher(text).matches(3),
    ):
        ours, theirs = both(ask)
        assert ours == theirs
    assert zenlake.WhatAmIMatcher.empty().router().peer().wire == wire.WhatAmIMatcher(3)
    assert into_matcher("peer") == into_matcher(zenlake.WhatAmIMatcher("peer"))


def test_matcher_wants_text() -> None:
    ours, theirs = both(lambda z: z.WhatAmIMatcher(3))
    assert ours == theirs == ("raises", "TypeError")
