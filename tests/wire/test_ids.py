"""The ids that code compares without decoding a message are those of the definitions."""

from __future__ import annotations

import pytest

from zenlake.wire import ids
from zenlake.wire.definitions import LAYOUTS

BY_NAME = {layout.name: layout.id for layout in LAYOUTS.values()}
NAMES = [name for name in vars(ids) if name.endswith("_ID")]


@pytest.mark.parametrize("name", NAMES)
def test_id_is_that_of_the_definition(name: str) -> None:
    assert vars(ids)[name] == BY_NAME[name.removesuffix("_ID")]


def test_network_messages_have_greater_ids_than_transport_messages() -> None:
    by_layer = {
        layer: {one.id for one in LAYOUTS.values() if one.layer == layer}
        for layer in ("network", "transport")
    }
    assert min(filter(None, by_layer["network"])) == ids.NETWORK_ID_MIN
    assert max(filter(None, by_layer["transport"])) < ids.NETWORK_ID_MIN
