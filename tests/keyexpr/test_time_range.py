"""Time ranges (behaviour reference, 1.6).

Valid and invalid forms are combined from parts whose meaning is written beside them by hand,
so the expectation never comes from the code under test.
"""

from __future__ import annotations

import pytest

from zenlake.errors import KeyExprError
from zenlake.keyexpr import TimeRange

SECOND = 1_000_000_000
NOW = 1_700_000_000 * SECOND
NOON = 1_704_110_400 * SECOND  # 2024-01-01T12:00:00Z

# text of a bound, the instant it means at NOW, its canonical text
BOUNDS: list[tuple[str, int, str]] = [
    ("now()", NOW, "now()"),
    ("now(0)", NOW, "now()"),
    ("now(-2s)", NOW - 2 * SECOND, "now(-2s)"),
    ("now(2)", NOW + 2 * SECOND, "now(2s)"),
    ("now(+2s)", NOW + 2 * SECOND, "now(2s)"),
    ("now(-1h)", NOW - 3600 * SECOND, "now(-3600s)"),
    ("now(1.5ms)", NOW + 1_500_000, "now(0.0015s)"),
    ("now(-10u)", NOW - 10_000, "now(-0.00001s)"),
    ("now(1.1m)", NOW + 66 * SECOND, "now(66s)"),
    ("now(-.5d)", NOW - 43_200 * SECOND, "now(-43200s)"),
    ("now(2.w)", NOW + 1_209_600 * SECOND, "now(1209600s)"),
    ("now(1e3)", NOW + 1000 * SECOND, "now(1000s)"),
    ("2024-01-01T12:00:00Z", NOON, "2024-01-01T12:00:00Z"),
    ("2024-01-01 12:00:00", NOON, "2024-01-01T12:00:00Z"),
    ("2024-01-01T12:00:00.5", NOON + SECOND // 2, "2024-01-01T12:00:00.500000000Z"),
    ("2024-01-01 12:00:00.000000001Z", NOON + 1, "2024-01-01T12:00:00.000000001Z"),
    ("2016-12-31T23:59:60Z", 1_483_228_799 * SECOND, "2016-12-31T23:59:59Z"),
    ("1970-01-01T00:00:00Z", 0, "1970-01-01T00:00:00Z"),
    ("1969-12-31T23:59:59.9Z", -SECOND // 10, "1969-12-31T23:59:59.900000000Z"),
]

INVALID_EXPRESSIONS = [
    "now",
    "now(",
    "now)",
    "now(-)",
    "now(--1s)",
    "now(1x)",
    "now(4mm)",
    "now(1h4m)",
    "now( 1s)",
    "now(inf)",
    "now(nan)",
    "now(1e999)",
    "now(99999w999)",
    "NOW()",
    "now(1_000)",
    "now(\u0661)",
    "1h",
    "x",
    "2020-11-05",
    "2020-11-05T01:02",
    "2020-13-05T01:02:03Z",
    "2020-02-30T01:02:03Z",
    "2020-11-05T24:00:00Z",
    "2020-11-05T01:02:61Z",
    "2020-11-05T01:02:03+01:00",
    "2020-11-05t01:02:03Z",
    "2020-11-05T01:02:03z",
    "2020-11-05T01:02:03.Z",
    "20-11-05T01:02:03Z",
    "0000-01-01T00:00:00Z",
    " now()",
    "now() ",
    "tomorrow",
]

INVALID_TEXTS = [
    "",
    "[",
    "]",
    "[]",
    "[..",
    "..]",
    "..",
    "(..)",
    "[...]",
    "[.]",
    "[now()]",
    "[;]",
    "[;1h]",
    "[now();]",
    "[now();1x]",
    "[now();-1s]",
    "[now();now()]",
    "[now();1s;2s]",
    "[9999-12-31T23:59:59Z;1s]",
    "[now()..now()..now()]",
    "[" + "0" * 10_000 + "..]",
]


@pytest.mark.parametrize(("opening", "closing"), ["[]", "[[", "]]", "]["])
@pytest.mark.parametrize(("start", "start_ns", "start_text"), BOUNDS)
def test_range_with_two_bounds_contains_the_times_between(
    start: str, start_ns: int, start_text: str, opening: str, closing: str
) -> None:
    for end, end_ns, end_text in BOUNDS:
        time_range = TimeRange.parse(f"{opening}{start}..{end}{closing}")
        assert str(time_range) == f"{opening}{start_text}..{end_text}{closing}"
        assert TimeRange.parse(str(time_range)) == time_range
        for instant in {start_ns, start_ns - 1, start_ns + 1, end_ns, end_ns - 1, end_ns + 1}:
            after = instant >= start_ns if opening == "[" else instant > start_ns
            before = instant <= end_ns if closing == "]" else instant < end_ns
            assert time_range.contains(instant, NOW) is (after and before)
            assert time_range.resolve(NOW).contains(instant, now_ns=0) is (after and before)


@pytest.mark.parametrize(("bound", "bound_ns", "text"), BOUNDS)
def test_empty_bound_is_no_bound(bound: str, bound_ns: int, text: str) -> None:
    late = TimeRange.parse(f"[{bound}..]")
    assert late.end is None
    assert not late.contains(bound_ns - 1, NOW)
    assert late.contains(10**30, NOW)
    early = TimeRange.parse(f"[..{bound}[")
    assert early.start is None
    assert not early.contains(bound_ns, NOW)
    assert early.contains(-(10**30), NOW)


@pytest.mark.parametrize("text", ["[..]", "]..[", "[..[", "]..]"])
def test_no_bounds_at_all(text: str) -> None:
    time_range = TimeRange.parse(text)
    assert str(time_range) == "[..]"
    assert time_range.contains(0, NOW)
    assert time_range.resolve(NOW) == time_range


DURATIONS = [("0", 0), ("1u", 1_000), ("1.5h", 5_400 * SECOND), ("1d", 86_400 * SECOND)]


@pytest.mark.parametrize(("start", "start_ns", "text"), BOUNDS)
@pytest.mark.parametrize(("duration", "duration_ns"), DURATIONS)
def test_a_duration_ends_after_its_start(
    start: str, start_ns: int, text: str, duration: str, duration_ns: int
) -> None:
    time_range = TimeRange.parse(f"[{start};{duration}]")
    assert time_range.contains(start_ns, NOW)
    assert time_range.contains(start_ns + duration_ns, NOW)
    assert not time_range.contains(start_ns + duration_ns + 1, NOW)
    assert str(time_range).startswith(f"[{text}..")
    exclusive = TimeRange.parse(f"]{start};{duration}[")
    assert not exclusive.contains(start_ns, NOW)
    assert not exclusive.contains(start_ns + duration_ns, NOW)


@pytest.mark.parametrize("expression", INVALID_EXPRESSIONS)
@pytest.mark.parametrize("form", ["[{}..]", "]..{}]", "[{};1s]", "[now()..{}[", "[{}..now()]"])
def test_invalid_expressions(expression: str, form: str) -> None:
    with pytest.raises(KeyExprError) as caught:
        TimeRange.parse(form.format(expression))
    assert 0 < caught.value.position < len(form.format(expression))


@pytest.mark.parametrize("text", INVALID_TEXTS + ["x" + t for t in INVALID_TEXTS])
def test_invalid_texts(text: str) -> None:
    with pytest.raises(KeyExprError):
        TimeRange.parse(text)


def test_positions_point_at_the_bad_part() -> None:
    for text, position in [
        ("x..]", 0),
        ("[..x", 3),
        ("[1h..]", 1),
        ("[now()..1h]", 8),
        ("[now(1x)..]", 5),
        ("[now(-1x)..]", 6),
        ("[now();1x]", 7),
    ]:
        with pytest.raises(KeyExprError) as caught:
            TimeRange.parse(text)
        assert caught.value.position == position, text


def test_fractions_beyond_the_nanosecond_are_cut() -> None:
    time_range = TimeRange.parse("[1970-01-01T00:00:00.0000000019Z..]")
    assert str(time_range) == "[1970-01-01T00:00:00.000000001Z..]"


def test_resolving_writes_instants() -> None:
    time_range = TimeRange.parse("]now(-2s)..now(2s)]").resolve(NOON)
    assert str(time_range) == "]2024-01-01T11:59:58Z..2024-01-01T12:00:02Z]"


def test_resolving_stays_within_four_digit_years() -> None:
    time_range = TimeRange.parse("[now(-300000w)..now(500000w)]").resolve(NOON)
    assert str(time_range) == "[0001-01-01T00:00:00Z..9999-12-31T23:59:59.999999999Z]"


def test_there_are_enough_forms() -> None:
    assert len(BOUNDS) ** 2 * 4 >= 200
    assert len(INVALID_EXPRESSIONS) * 5 + len(INVALID_TEXTS) * 2 >= 200
