"""The examples of the documentation run, and print the documented output."""

from __future__ import annotations

import doctest
import re
import shlex

import pytest

from tests.paths import DOCS, ROOT
from zenlake import Config
from zenlake.cli.main import main
from zenlake.rules import RULES


@pytest.mark.parametrize(
    ("document", "examples"),
    [
        ("README.md", 3),
        ("docs/tutorial.md", 35),
        ("docs/key-expressions.md", 30),
        ("docs/captures.md", 15),
        ("docs/check.md", 3),
        ("docs/node.md", 15),
        ("docs/admin-space.md", 4),
        ("docs/ros.md", 6),
    ],
)
def test_python_examples_run(document: str, examples: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    result = doctest.testfile(str(ROOT / document), module_relative=False, encoding="utf-8")
    assert result.attempted >= examples
    assert result.failed == 0


@pytest.mark.parametrize(
    ("document", "folder", "commands", "exit_codes"),
    [
        ("README.md", "src/zenlake/cli/demo_data", ["why", "sql"], [1, 0]),
        ("docs/tutorial.md", ".", ["explain"], [0]),
        ("docs/check.md", ".", ["check"], [1]),
    ],
)
def test_commands_print_what_documents_show(
    document: str,
    folder: str,
    commands: list[str],
    exit_codes: list[int],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(ROOT / folder)
    if "sql" in commands:
        pytest.importorskip("duckdb", reason="needs zenlake[sql]")
    shown = re.findall(r"```\n\$ zenlake (.*?)\n(.*?)```", (ROOT / document).read_text(), re.DOTALL)
    assert [command.split()[0] for command, _ in shown] == commands
    for (command, output), exit_code in zip(shown, exit_codes, strict=True):
        assert main(shlex.split(command)) == exit_code
        assert capsys.readouterr().out == output


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().split()) <= 900


def test_images_are_small() -> None:
    images = list((DOCS / "images").iterdir())
    assert images
    assert [image.name for image in images if image.stat().st_size > 200_000] == []


def test_definition_in_the_architecture_page_is_the_definition() -> None:
    text = (DOCS / "architecture.md").read_text()
    match = re.search(r"```python\n(class Push.*?)```", text, re.DOTALL)
    assert match is not None
    source = (ROOT / "src" / "zenlake" / "wire" / "definitions" / "network.py").read_text()
    assert match.group(1) in source


def test_configurations_in_documents_are_accepted() -> None:
    blocks = re.findall(r"```json5\n(.*?)```", (DOCS / "node.md").read_text(), re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        Config.from_json5(block)


def test_configuration_keys_in_documents_exist() -> None:
    keys = (DOCS / "configuration.md").read_text()
    folders = "connect|listen|open|scouting|transport"
    named = re.findall(rf"`((?:{folders})/[a-z_/]+)`", (DOCS / "node.md").read_text())
    assert len(named) >= 10
    assert [key for key in named if f"`{key}`" not in keys] == []


def test_links_between_documents_resolve() -> None:
    for document in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text()):
            assert (document.parent / target).exists(), f"{document.name}: {target}"


def test_glossary_terms_are_used() -> None:
    terms = re.findall(r"^- \*\*(.+?)\*\*", (DOCS / "glossary.md").read_text(), re.MULTILINE)
    assert len(terms) >= 20
    paths = [*ROOT.glob("src/**/*.py"), *ROOT.glob("docs/**/*.md")]
    texts = [path.read_text() for path in paths if path.name != "glossary.md"]
    text = re.sub(r"[\s_#`]+", " ", " ".join(texts)).lower()
    assert [term for term in terms if not re.search(rf"\b{re.escape(term)}s?\b", text)] == []


def test_documents_give_the_number_of_rules() -> None:
    figures = (DOCS / "figures.md").read_text()
    assert f"| conformance rules | {len(RULES)};" in figures


def test_modules_named_in_documents_exist() -> None:
    """A path such as `wire/runs.py` is below src/zenlake, tests or the root."""
    bases = (ROOT, ROOT / "src" / "zenlake", ROOT / "src" / "zenlake" / "lake", ROOT / "tests")
    wrong = []
    for document in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")):
        for path in re.findall(r"`((?:[a-z_0-9]+/)+[a-z_0-9]+\.py)`", document.read_text()):
            if not any((base / path).exists() for base in bases):
                wrong.append(f"{document.name}: {path}")
    assert wrong == []
