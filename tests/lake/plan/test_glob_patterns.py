"""Patterns of file names, without Spark; `test_spark_files.py` compares them with Hadoop's."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.lake.plan.glob_cases import CASES, WHERE_HADOOP_FAILS
from zenlake.errors import LocalError
from zenlake.lake.plan.file_search import name_filter, paths_matching
from zenlake.lake.plan.glob_patterns import choices, is_pattern
from zenlake.limits import GLOB_CHOICES_MAX, GLOB_DEPTH_MAX


def nested(depth: int) -> str:
    return "{" * depth + "a" + "}" * depth


def matches(pattern: str, name: str) -> bool:
    return any(one.matches(name) for one in name_filter(pattern))


@pytest.mark.parametrize(("pattern", "names", "others"), [*CASES, *WHERE_HADOOP_FAILS])
def test_pattern_matches_the_expected_names(
    pattern: str, names: list[str], others: list[str]
) -> None:
    assert [name for name in names if not matches(pattern, name)] == []
    assert [name for name in others if matches(pattern, name)] == []


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("a", ["a"]),
        ("", [""]),
        ("{a/b}", ["a/b"]),
        ("/}{a/b}", ["/}a/b"]),
        ("p{a/b,c/d}s", ["pa/bs", "pc/ds"]),
        ("{a/b,{c,{d/e,f}}}", ["a/b", "c", "d/e", "f"]),
        ("{a/b,c}{d,e}", ["a/bd", "a/be", "cd", "ce"]),
        (r"{a,\},b}", ["a", r"\}", "b"]),
        ("{a,a}", ["a"]),
    ],
)
def test_braces_are_expanded(pattern: str, expected: list[str]) -> None:
    assert choices(pattern) == expected


@pytest.mark.parametrize(
    ("pattern", "cause"),
    [
        ("{a,b", "'{' without '}'"),
        ("a{", "'{' without '}'"),
        ("[a", "'[' without ']'"),
        ("[", "'[' without ']'"),
        ("[]", "'[' without ']'"),
        ("[^", "'[' without ']'"),
        (r"[a\]", "'[' without ']'"),
        ("a\\", r"nothing after the last '\'"),
        ("[b-a]", "'b-a' is no range"),
        ("{" * 9_000 + "}" * 9_000, "its braces are nested too deeply"),
        (nested(GLOB_DEPTH_MAX + 1), "its braces are nested too deeply"),
        ("{a,b}" * 10, f"more than {GLOB_CHOICES_MAX:,} choices in braces"),
    ],
    ids=lambda text: text[:9],
)
def test_invalid_patterns_are_errors(pattern: str, cause: str) -> None:
    with pytest.raises(LocalError) as raised:
        name_filter(pattern)
    assert f"is no pattern: {cause}" in str(raised.value)


def test_number_of_choices_is_limited() -> None:
    assert choices(nested(GLOB_DEPTH_MAX)) == ["a"]
    most = "{" + ",".join(map(str, range(GLOB_CHOICES_MAX))) + "}"
    assert len(choices(most)) == GLOB_CHOICES_MAX
    with pytest.raises(LocalError, match="more than 1,000 choices"):
        choices(most.replace("}", ",x}"))


def test_many_stars_take_no_exponential_time() -> None:
    began = time.process_time()
    assert not matches("*a" * 60 + "b", "a" * 255)
    assert time.process_time() - began < 1


def test_matching_paths_are_found(tmp_path: Path) -> None:
    for name in ("a/x.pcap", "b/x.pcap", "b/y.pcap", "c/d/x.pcap", "[e]/x.pcap"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()

    def found(pattern: str) -> list[str]:
        return [str(Path(one).relative_to(tmp_path)) for one in paths_matching(pattern)]

    assert found(f"{tmp_path}/{{b/y,a/x}}.pcap") == ["a/x.pcap", "b/y.pcap"]
    assert found(f"{tmp_path}/[a-b]//x*") == ["a/x.pcap", "b/x.pcap"]
    assert found(f"{tmp_path}/*/d/*") == ["c/d/x.pcap"]
    assert found(f"{tmp_path}/**/x.pcap") == [*("[e]/x.pcap", "a/x.pcap", "b/x.pcap", "c/d/x.pcap")]
    assert found(f"{tmp_path}/c/**") == ["c/d/x.pcap"]
    assert found(rf"{tmp_path}/\[e\]/x.pcap") == ["[e]/x.pcap"]
    assert found(f"{tmp_path}/*/x.pcap/*") == []
    assert paths_matching("no such folder/*") == []


def test_paths_with_special_characters_are_patterns() -> None:
    assert [text for text in ("a*", "?", "[a]", "{a}", r"\a") if not is_pattern(text)] == []
    assert not is_pattern("a-b_c.d,e}f]g^h!i")
