"""The messages of the pages, one class each: the only place that says how they lie in bytes.

Read them next to the pages: down the box, down the class. What users hold are the classes that
`zenlake.wire.generate` writes from these.
"""

from __future__ import annotations

from types import ModuleType

from zenlake.wire.define import Definition
from zenlake.wire.definitions import data, declare, network, scouting, structures, transport
from zenlake.wire.layout import Layout

MODULES: tuple[ModuleType, ...] = (structures, data, declare, network, scouting, transport)


def layouts_of(module: ModuleType) -> list[Layout]:
    """The layouts a module defines, in the order it defines them."""
    return [
        value.LAYOUT
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, Definition)
        and value.__module__ == module.__name__
    ]


LAYOUTS: dict[str, Layout] = {
    layout.class_name: layout for module in MODULES for layout in layouts_of(module)
}
