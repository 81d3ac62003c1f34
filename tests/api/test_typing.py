"""Type checkers accept programs on zenlake that they accept on eclipse-zenoh."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import zenlake

pytest.importorskip("zenoh", reason="eclipse-zenoh has no wheel for this Python")

pytestmark = pytest.mark.xdist_group("typing")
mypy = pytest.importorskip("mypy.api", reason="mypy is not installed")

PROGRAMS = Path(__file__).parents[1] / "programs"
NO_PROGRAMS = ("on_zenlake", "test_programs")
TYPES = sorted((PROGRAMS / "types").glob("*.py"))
FILES = [path for path in PROGRAMS.glob("*.py") if path.stem not in NO_PROGRAMS] + TYPES
# The file, the line, and the code of the error.
Complaint = tuple[str, int, str]


@pytest.fixture(scope="module")
def caches(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mypy")


def complaints(files: list[Path], cache: Path) -> set[Complaint]:
    """The errors of mypy in files, checked as users do: not strictly, without configuration."""
    options = ["--config-file=", "--follow-imports=silent", f"--cache-dir={cache}"]
    said, failure, _ = mypy.run([*options, *map(str, files)])
    assert failure == ""
    found = re.findall(r"^(.*):(\d+): error: .*\[(.*)\]$", said, re.MULTILINE)
    assert len(found) == said.count(": error: "), said
    return {(Path(name).stem, int(line), code) for name, line, code in found}


def on_zenlake(files: list[Path], folder: Path) -> list[Path]:
    """The programs with another name of the module; nothing else changes."""
    changed = []
    for path in files:
        text = path.read_text("utf-8")
        text = re.sub(r"(?m)^import zenoh(\.\w+)?$", "import zenlake as zenoh", text)
        text = re.sub(r"(?m)^from zenoh\b", "from zenlake", text)
        changed.append(folder / path.name)
        changed[-1].write_text(text, "utf-8")
    return changed


@pytest.fixture(scope="module")
def theirs(caches: Path) -> set[Complaint]:
    return complaints(FILES, caches)


@pytest.fixture(scope="module")
def ours(caches: Path) -> set[Complaint]:
    source = Path(zenlake.__file__).parents[1]
    with pytest.MonkeyPatch.context() as patch:
        # An installed package is found by itself, and must not be named.
        if "site-packages" not in source.parts:
            patch.setenv("MYPYPATH", str(source))
        return complaints(on_zenlake(FILES, caches), caches)


def test_programs_accepted_on_eclipse_zenoh_are_accepted_on_zenlake(
    ours: set[Complaint], theirs: set[Complaint]
) -> None:
    assert ours - theirs == set()


@pytest.mark.parametrize("path", TYPES, ids=lambda path: path.stem)
def test_types_are_as_expected(path: Path, ours: set[Complaint]) -> None:
    assert [complaint for complaint in ours if complaint[0] == path.stem] == []


def test_expectations_are_those_of_the_stub(theirs: set[Complaint]) -> None:
    wrong = {name for name, _, _ in theirs} & {path.stem for path in TYPES}
    # Its overloads of `scout` are broken.
    assert wrong <= {"scouting"}
