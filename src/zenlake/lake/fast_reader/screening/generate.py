"""Compiles the conditions of rules to parts of a kernel; `--check` only compares the files.

`codes.py` has the codes of kinds and fields of this release. `conditions.py` has the condition of
every rule that declares one, each with a bit.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from zenlake.columnar.fields import columns, presence_bits
from zenlake.columnar.kinds import kinds
from zenlake.generated_files import write_or_check
from zenlake.lake.fast_reader.screening import vocabulary
from zenlake.lake.fast_reader.screening.rule_selection import (
    FIRST_NETWORK,
    condition_of,
    condition_rules,
    kinds_of_rule,
)
from zenlake.rules import Rule

FOLDER = Path(__file__).parent / "_generated"
FUNCTIONS = "zenlake.lake.fast_reader.screening.condition_functions"
BITS_MAX = 60
"""The kernel uses the others itself."""
HEAD = '''"""{title}

GENERATED from what zenlake.rules declare by `make generate`. Do not edit.
"""

from __future__ import annotations

'''


def codes() -> str:
    lines = ["from typing import Final", "", f"FIRST_NETWORK: Final = {FIRST_NETWORK}"]
    lines += [f"{_name(kind)}: Final = {code}" for code, kind in enumerate(kinds()) if kind]
    lines += [f"HAS_{name.upper()}: Final = {bit:#x}" for name, bit in presence_bits().items()]
    places = columns().items()
    lines += [f"{name.upper()}_COLUMN: Final = {column.begin}" for name, column in places]
    title = "Numbers of kinds and fields, and where columns begin in a table of one row."
    return HEAD.format(title=title) + "\n".join(lines) + "\n"


def _name(kind: str) -> str:
    return re.sub(r"\W", "_", kind)


def conditions() -> str:
    rules = condition_rules()
    if len(rules) > BITS_MAX:
        raise ValueError("more conditions than a word has bits: let the kernel write two words")
    of_units = _tests([rule for rule in rules if kinds_of_rule(rule) is None])
    of_rows = _tests([rule for rule in rules if kinds_of_rule(rule) is not None])
    present = f"    present = {vocabulary.cell('present')}"
    text = "\n".join([present, *of_units, *of_rows])
    lines = [
        "from typing import TYPE_CHECKING, Final",
        "",
        "from zenlake.columnar.jit import inlined",
        f"from zenlake.columnar.memory import {_used('get_', text)}",
        f"from zenlake.lake.fast_reader.screening._generated.codes import {_used('[A-Z]', text)}",
        f"from {FUNCTIONS} import BAD, EMPTY, WIDE, {_called(text)}",
        "",
        "if TYPE_CHECKING:",
        "    from zenlake.columnar.memory import Buffer, Table",
        "",
        "RULES: Final = (",
        *(f'    "{rule.id}",' for rule in rules),
        ")",
        '"""The rule of each bit, the lowest first."""',
        "",
        "",
        "@inlined",
        "def conditions_of_unit(",
        "    table: Table, room: int, row: int, batch_size: int, unit_bytes: int,",
        "    is_low_latency: bool, messages: int,",
        ") -> int:",
        '    """The rules to evaluate for a batch; `row` is its first."""',
        "    found = 0",
        *of_units,
        "    return found",
        "",
        "",
        "@inlined",
        "def conditions_of_row(",
        "    buf: Buffer, table: Table, room: int, count: int, row: int, kind: int, wanted: int,",
        "    qos: bool, patch: int, request_id_bits: int, is_in_channel: bool, is_reliable: bool,",
        "    priority: int, key_code: int, key_flags: int, time_ns: int,",
        ") -> int:",
        '    """The rules to evaluate for a message; `wanted` are those about its kind."""',
        present,
        "    found = 0",
        *of_rows,
        "    return found",
    ]
    return HEAD.format(title="Conditions of rules.") + "\n".join(lines) + "\n"


def _tests(rules: list[Rule]) -> list[str]:
    """Rules with the same condition share one test."""
    groups: dict[str, list[Rule]] = {}
    for rule in rules:
        groups.setdefault(vocabulary.in_kernel(condition_of(rule)), []).append(rule)
    places = {rule: place for place, rule in enumerate(condition_rules())}
    lines: list[str] = []
    for expression, group in groups.items():
        bits = sum(1 << places[rule] for rule in group)
        is_of_unit = kinds_of_rule(group[0]) is None
        test = f"({expression})" if is_of_unit else f"wanted & {bits:#x} and ({expression})"
        lines += [f"    # {', '.join(rule.id for rule in group)}", f"    if {test}:"]
        lines += [f"        found |= {bits:#x}" + ("" if is_of_unit else " & wanted")]
    return lines


def _used(pattern: str, text: str) -> str:
    found = re.findall(rf"\b(?!BAD|EMPTY|WIDE)({pattern}\w+)\b", text)
    return ", ".join(sorted(set(found)))


def _called(text: str) -> str:
    found = re.findall(r"(\w+)\((?:buf|table),", text)
    return ", ".join(sorted(name for name in set(found) if not name.startswith("get_")))


def main() -> int:
    files = {FOLDER / "codes.py": codes(), FOLDER / "conditions.py": conditions()}
    return write_or_check(files, "the rules")


if __name__ == "__main__":
    sys.exit(main())
