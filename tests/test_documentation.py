"""The examples of the documentation do what they show."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

from zenlake import Config
from zenlake.cli.main import main

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("document", "examples"),
    [
        ("README.md", 5),
        ("docs/tutorial.md", 30),
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


def test_the_terminal_pictures_of_the_readme_are_true(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    readme = (ROOT / "README.md").read_text()
    pictures = re.findall(r"```\n\$ zenlake (.*?)\n(.*?)```", readme, re.DOTALL)
    assert [command.split()[0] for command, _ in pictures] == ["decode", "explain"]
    for command, picture in pictures:
        assert main(shlex.split(command)) == 0
        assert capsys.readouterr().out == picture


def test_the_terminal_picture_of_check_is_true(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    text = (ROOT / "docs" / "check.md").read_text()
    [(command, picture)] = re.findall(r"```\n\$ zenlake (.*?)\n(.*?)```", text, re.DOTALL)
    assert main(shlex.split(command)) == 1
    assert capsys.readouterr().out == picture


def test_the_definition_in_the_readme_is_the_definition() -> None:
    readme = (ROOT / "README.md").read_text()
    match = re.search(r"```python\n(class Push.*?)```", readme, re.DOTALL)
    assert match is not None
    source = (ROOT / "src" / "zenlake" / "wire" / "definitions" / "network.py").read_text()
    assert match.group(1) in source


def test_the_configurations_of_the_documentation_are_accepted() -> None:
    blocks = re.findall(r"```json5\n(.*?)```", (ROOT / "docs" / "node.md").read_text(), re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        Config.from_json5(block)


def test_the_keys_of_the_documentation_exist() -> None:
    keys = (ROOT / "docs" / "configuration.md").read_text()
    folders = "connect|listen|open|scouting|transport"
    named = re.findall(rf"`((?:{folders})/[a-z_/]+)`", (ROOT / "docs" / "node.md").read_text())
    assert len(named) >= 10
    assert [key for key in named if f"`{key}`" not in keys] == []


def test_links_between_documents_lead_somewhere() -> None:
    for document in (ROOT / "README.md", *ROOT.glob("docs/**/*.md")):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text()):
            assert (document.parent / target).exists(), f"{document.name}: {target}"
