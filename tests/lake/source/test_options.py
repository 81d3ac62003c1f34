"""Valid options, and one clear error for any other (limits S06)."""

from __future__ import annotations

import json

import pytest

from zenlake.errors import ZenlakeError
from zenlake.lake.plan.file_search import FileChoice
from zenlake.lake.schema import TABLES
from zenlake.lake.source.options import KNOWN, Options, Tolerance, read_options
from zenlake.limits import OPTION_CHARACTERS_MAX

PATH = {"path": "a.pcap"}


def test_option_names_ignore_case() -> None:
    found = read_options({"PATH": "a.pcap", "Table": "samples", "KIND": "put", "Key": "a/**/**"})
    assert found.table is TABLES["samples"]
    assert found.paths == ["a.pcap"]
    assert found.kinds == frozenset({"PUT"})
    assert found.key == "a/**"


def test_messages_is_the_default_table() -> None:
    found = read_options(PATH)
    assert found.table is TABLES["messages"]
    assert found == Options(TABLES["messages"], ["a.pcap"])
    assert found.files == FileChoice()
    assert found.tolerance == Tolerance(corrupt=False, missing=False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0),
        ("1763157702309176123", 1763157702309176123),
        ("-5", -5),
        ("1970-01-01", 0),
        ("1970-01-01T00:00:01", 1_000_000_000),
        ("1970-01-01T00:00:01.5Z", 1_500_000_000),
        ("1970-01-01 00:00:01.000000001+00:00", 1_000_000_001),
        ("1970-01-01T01:00:00.123456789+01:00", 123_456_789),
        ("1969-12-31T23:59:59.25Z", -750_000_000),
        ("2026-11-14T22:01:42.309176123Z", 1794693702309176123),
    ],
)
def test_times_are_parsed(text: str, expected: int) -> None:
    assert read_options({**PATH, "since": text}).since_ns == expected
    assert read_options({**PATH, "until": text}).until_ns == expected


def test_options_of_spark_file_sources_are_accepted() -> None:
    found = read_options(
        {
            **PATH,
            "PathGlobFilter": "*.{cap,bin}",
            "recursivefilelookup": "TRUE",
            "modifiedAfter": "1970-01-01T00:00:01",
            "modifiedBefore": "5",
            "ignoreCorruptFiles": "true",
            "ignoreMissingFiles": "False",
        }
    )
    assert found.files == FileChoice("*.{cap,bin}", True, 1_000_000_000, 5)
    assert found.tolerance == Tolerance(corrupt=True, missing=False)


def test_kind_includes_the_kinds_below_it() -> None:
    found = read_options({**PATH, "kind": "push, RESPONSE/REPLY,INIT_SYN"}).kinds
    pushed = {"PUSH/PUT", "PUSH/DEL"}
    assert found == frozenset(pushed | {"RESPONSE/REPLY/PUT", "RESPONSE/REPLY/DEL", "INIT_SYN"})


def test_every_table_with_a_kind_knows_its_kinds() -> None:
    for table in TABLES.values():
        if "kind" in table.names:
            with pytest.raises(ZenlakeError, match=f"{table.name} have no kind 'nonsense'"):
                read_options({**PATH, "table": table.name, "kind": "nonsense"})


def test_every_table_accepts_a_time_range() -> None:
    for table in TABLES:
        read_options({**PATH, "table": table, "since": "5"})


_DEEP = "[" * 100_000 + "]" * 100_000
_BOMB = json.dumps([["x" * 9] * 9] * 9)
_HUGE = "9" * 5_000
_TEXTS = (
    *("", " ", "\0", "\n", "null", "true", "NaN", "Infinity", "1e999", "0x10", "١٢"),
    *(_HUGE, f"-{_HUGE}", "9223372036854775808", "1.5", "1_000", _DEEP, _BOMB, "{}", "{"),
    *("../../etc/passwd", "/etc/passwd", "file:///etc/passwd", "${jndi:ldap://x}", "%s%n"),
    *("'; DROP TABLE x; --", "2026-13-01", "2026-02-30T00:00:00Z", "99999-01-01", "tomorrow"),
)
BAD = [
    *({**PATH, name: text} for name in ("since", "until", "partitions") for text in _TEXTS),
    *({**PATH, name: text} for name in ("modifiedAfter", "modifiedBefore") for text in _TEXTS),
    *(
        {**PATH, name: text}
        for name in ("recursiveFileLookup", "ignoreCorruptFiles", "ignoreMissingFiles")
        for text in _TEXTS
        if text != "true"
    ),
    *({**PATH, "pathGlobFilter": text} for text in ("{", "{" * 5_000, "[a", "a\\", "[b-a]")),
    {**PATH, "pathGlobFilter": "{a,b}" * 10},
    {**PATH, "pathGlobFilter": "{" * 5_000 + "}" * 5_000},
    *({**PATH, "table": text} for text in (*_TEXTS, "Messages ", "message", "captures.x")),
    *({**PATH, "kind": text} for text in (*_TEXTS, "PUSH/", "PUT", "PUSH,,PUSH", "PU")),
    *({**PATH, "key": text} for text in ("", "/a", "a/", "a//b", "a/**b", "a#b", "a?x", "a$b")),
    *({**PATH, "key": text} for text in ("a/" * 3_000 + "a", "\ud800")),
    *({"paths": text} for text in _TEXTS if text != ""),
    *(
        {"paths": text}
        for text in ("", "[]", "[1]", '[["a"]]', '["a", null]', '[""]', '["\\u0000"]')
    ),
    *({**PATH, name: "x"} for name in ("pth", "tables", "", "since_ns", "sep", "header", "λ")),
    {},
    {"path": ""},
    {"path": "a\0b"},
    {**PATH, "key": "x" * (OPTION_CHARACTERS_MAX + 1)},
    {**PATH, "since": "5", "until": "4"},
    {**PATH, "table": "sessions", "key": "a"},
    {**PATH, "table": "queries", "kind": "PUT"},
    {**PATH, "partitions": "0"},
    {**PATH, "partitions": "10001"},
]


def test_number_of_invalid_options_is_sufficient() -> None:
    assert len(BAD) >= 100


@pytest.mark.parametrize("given", BAD, ids=range(len(BAD)))
def test_invalid_option_is_one_clear_error(given: dict[str, str]) -> None:
    with pytest.raises(ZenlakeError) as raised:
        read_options(given)
    text = str(raised.value)
    assert 10 < len(text) < 1_000
    assert "\n" not in text
    assert text.isprintable()


def test_unknown_option_error_lists_the_known_ones() -> None:
    with pytest.raises(ZenlakeError, match=r"no option 'tabel' \(did you mean table\?\)") as raised:
        read_options({**PATH, "Tabel": "x"})
    assert str(raised.value).endswith(f"there are: {', '.join(KNOWN)}")
