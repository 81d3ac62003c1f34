"""The definitions of all messages, one class each: the only place that states their encoding.

The rows of a class are in the order of the box on the spec page. Users get instances of the classes
that `zenlake.wire.generate` writes from these definitions.
"""

from __future__ import annotations

from types import ModuleType

from zenlake.wire.define import Definition
from zenlake.wire.definitions import data, declare, network, scouting, structures, transport
from zenlake.wire.layout import Layout

MODULES: tuple[ModuleType, ...] = (structures, data, declare, network, scouting, transport)


def layouts_of(module: ModuleType) -> list[Layout]:
    """The layouts of the classes in a module, in the order of their definitions."""
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
