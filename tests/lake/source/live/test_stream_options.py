"""Options and offsets of a stream: invalid ones are errors in one line."""

from __future__ import annotations

import pytest

from zenlake.errors import LocalError
from zenlake.lake.source.live.offsets import Offset, is_plain_name, parse_offset, parse_offset_text
from zenlake.lake.source.live.options import read_stream_options
from zenlake.limits import STREAM_OFFSET_CHARACTERS_MAX

OFFSET = '{"segment": "00000003", "position": 12}'


def options(**given: str) -> object:
    return read_stream_options({"path": "/recording", **given})


def test_options_are_parsed_in_any_case() -> None:
    found = read_stream_options(
        {
            **{"path": "/recording", "Table": "samples", "KEY": "a/**", "kind": "put"},
            **{"startingoffsets": OFFSET, "MaxBytesPerTrigger": "64m", "maxFilesPerTrigger": "3"},
            **{"minPartitions": "8", "FailOnDataLoss": "False"},
        }
    )
    assert found.start == Offset("00000003", 12)
    assert (found.bytes_max, found.files_max) == (64 << 20, 3)
    assert (found.partitions_min, found.fails_on_loss) == (8, False)
    assert (found.rows.key, found.rows.kinds) == ("a/**", frozenset({"PUT"}))


def test_defaults_are_those_of_other_sources() -> None:
    found = read_stream_options({"path": "/recording"})
    assert (found.table.name, found.start, found.start_ns) == ("messages", "earliest", None)
    assert (found.bytes_max, found.files_max) == (None, None)
    assert (found.partitions_min, found.fails_on_loss) == (1, True)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"since": "2026-01-01"}, "there is no option 'since'"),
        ({"startingOffset": "x"}, "did you mean startingOffsets"),
        ({"startingOffsets": "first"}, "earliest, latest, or an offset in JSON, not 'first'"),
        ({"startingOffsets": "{"}, "is not JSON"),
        ({"startingOffsets": "{" + "[" * 4_000}, "is not JSON"),
        ({"startingOffsets": '{"a":' * 5_000}, "longer than 4096 characters"),
        ({"startingOffsets": '{"segment": "1"}'}, "is no offset such as"),
        ({"startingOffsets": '{"segment": "1", "position": -1}'}, "integer from 0"),
        ({"startingOffsets": '{"segment": "1", "position": 1e3}'}, "integer from 0"),
        ({"startingOffsets": '{"segment": "1", "position": true}'}, "integer from 0"),
        ({"startingOffsets": '{"segment": "1", "position": %s}' % ("9" * 30)}, "integer from 0"),
        ({"startingOffsets": '{"segment": "1", "position": %s}' % ("9" * 4_050)}, "integer from 0"),
        ({"startingOffsets": '{"segment": "../x", "position": 0}'}, "is no file name"),
        ({"startingOffsets": '{"segment": ["x"], "position": 0}'}, "is no file name"),
        ({"startingOffsets": '{"segment": "x", "position": 0, "y": 1}'}, "unknown field 'y'"),
        ({"startingTimestamp": "now"}, "startingTimestamp is nanoseconds"),
        ({"startingTimestamp": "5", "startingOffsets": "latest"}, "not both"),
        ({"maxBytesPerTrigger": "0"}, "a size such as 64m"),
        ({"maxBytesPerTrigger": "9" * 18 + "t"}, "a size such as 64m"),
        ({"maxBytesPerTrigger": "-1"}, "a size such as 64m"),
        ({"maxFilesPerTrigger": "0"}, "from 1 to"),
        ({"maxFilesPerTrigger": "9" * 400}, "from 1 to"),
        ({"minPartitions": "10001"}, "from 1 to 10000"),
        ({"failOnDataLoss": "yes"}, "true or false"),
        ({"paths": '["/a", "/b"]'}, "a stream follows one folder"),
        ({"table": "sessions"}, "zenlake pipeline --follow keeps them in a lake"),
        ({"table": "nothing"}, "there is no table"),
        ({"key": "a//b"}, "a//b"),
        ({"kind": "NOTHING"}, "no kind 'NOTHING'"),
    ],
)
def test_invalid_options_are_errors_in_one_line(given: dict[str, str], complaint: str) -> None:
    with pytest.raises(LocalError) as raised:
        options(**given)
    assert complaint in str(raised.value)
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 600


def test_offset_may_be_as_long_as_the_limit() -> None:
    fitting = OFFSET.ljust(STREAM_OFFSET_CHARACTERS_MAX)
    assert parse_offset_text(fitting, "offset") == Offset("00000003", 12)
    with pytest.raises(LocalError, match="longer than"):
        parse_offset_text(fitting + " ", "offset")


@pytest.mark.parametrize("found", [None, [], "x", 5, {}, {"segment": "1", "position": None}])
def test_values_of_a_checkpoint_that_are_no_offsets_are_errors(found: object) -> None:
    with pytest.raises(LocalError):
        parse_offset(found, "the offset in the checkpoint")


def test_offset_is_the_same_after_json() -> None:
    for offset in (Offset("1", 2), Offset("x.pcap", 0, 5), Offset("2", 1, 3, "abc")):
        assert parse_offset(offset.to_json(), "offset") == offset
    assert parse_offset_text(OFFSET, "offset") == Offset("00000003", 12)


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/b", "a\\b", "a\0b", "a\nb", ".hidden", "x" * 256]
)
def test_names_that_lead_elsewhere_are_refused(name: str) -> None:
    assert not is_plain_name(name)
