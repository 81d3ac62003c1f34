"""Generated files are up to date with the definitions."""

from __future__ import annotations

import pytest

from tests.paths import DOCS, ROOT
from zenlake.wire.definitions import LAYOUTS, MODULES, layouts_of
from zenlake.wire.generate.__main__ import sources
from zenlake.wire.generate.reference import pages
from zenlake.wire.walk.functions import runtime_name

GENERATED = ROOT / "src" / "zenlake" / "wire" / "_generated"


def test_generated_modules_are_up_to_date() -> None:
    texts = {path.name: text for path, text in sources().items() if path.suffix == ".py"}
    assert len(texts) == len(MODULES)
    for name, text in texts.items():
        assert (GENERATED / name).read_text() == text, "run `make generate`"


def test_reference_pages_are_up_to_date() -> None:
    for name, text in pages().items():
        assert (DOCS / "reference" / name).read_text() == text, "run `make generate`"


def test_all_messages_of_the_pages_are_defined() -> None:
    counts = {module.__name__.rpartition(".")[2]: len(layouts_of(module)) for module in MODULES}
    assert counts["scouting"] == 2
    assert counts["transport"] == 8
    assert counts["network"] == 7
    assert counts["data"] == 5
    assert counts["declare"] == 9
    assert sum(counts.values()) - counts["structures"] == 31


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=lambda layout: layout.class_name)
def test_no_two_extensions_of_a_message_have_one_identity(layout: object) -> None:
    headers = [ext.header for ext in getattr(layout, "extensions", ())]
    assert len(headers) == len(set(headers))


@pytest.mark.parametrize("name", LAYOUTS)
def test_generated_class_has_the_name_of_its_definition(name: str) -> None:
    assert getattr(runtime_name(name), "__name__", "") == name
    assert getattr(runtime_name(name), "NAME", "") == LAYOUTS[name].name
