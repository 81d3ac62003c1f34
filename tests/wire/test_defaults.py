"""Defaults that are plain numbers, and their copies in words."""

from __future__ import annotations

from zenlake.limits import BATCH_BYTES_MAX
from zenlake.rules.registry import RULES
from zenlake.wire import Frame, Init, Join, Priority, QoS, Resolution, WhatAmI, ZenohId, defaults
from zenlake.wire.values.qos import DEFAULT_QOS
from zenlake.wire.values.resolution import DEFAULT_RESOLUTION


def test_default_qos_is_data_dropped_and_not_express() -> None:
    assert int(Priority.DATA) == defaults.DEFAULT_PRIORITY
    assert QoS.of().byte == defaults.DEFAULT_QOS_BYTE
    assert QoS.of() == DEFAULT_QOS


def test_default_resolution_is_32_bits() -> None:
    assert DEFAULT_RESOLUTION == Resolution() == Resolution.of(32, 32)
    assert DEFAULT_RESOLUTION.sn_mask == defaults.DEFAULT_SN_MASK


def test_default_batches_are_within_the_limit() -> None:
    assert defaults.DEFAULT_GROUP_BATCH_BYTES < defaults.DEFAULT_BATCH_BYTES == BATCH_BYTES_MAX


def test_messages_carry_the_version() -> None:
    zid = ZenohId(b"\x01")
    assert Init(WhatAmI.PEER, zid).version == defaults.PROTOCOL_VERSION
    assert Join(WhatAmI.PEER, zid, 10_000, 0, 0).version == defaults.PROTOCOL_VERSION
    assert Frame(0, []).qos is None


def test_texts_of_rules_name_the_defaults() -> None:
    texts = {rule.id: rule.text for rule in RULES.values()}
    assert f"other priority than {defaults.DEFAULT_PRIORITY}." in texts["priority-not-agreed"]
    assert f"The protocol version is {defaults.PROTOCOL_VERSION}." in texts["version-other"]
