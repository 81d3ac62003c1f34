"""The configuration keys as a document, printed from their table."""

from __future__ import annotations

import json
from typing import Any, Final

from zenlake.api.config.keys import HONOURED_LIMITS, KEYS, Key
from zenlake.api.config.value_kinds import MODES

_HEAD: Final = """\
# Configuration

<!-- Printed by `python -m zenlake.api.generate`; do not edit. -->

A configuration is JSON5 (`Config.from_file("node.json5")`, `Config.from_json5(...)`), and every
value has a path (`config.insert_json5("transport/link/tx/lease", "5000")`). The keys are those of
eclipse-zenoh 1.10. An unknown key or a value of the wrong type raises a `ZError` with the name of
the key. A value with "or one per mode" is written once or as
`{router: ..., peer: ..., client: ...}`.

Some keys are not implemented. "No effect: open warns" means that `open` logs a warning with the
name of the key if it is set to anything but its default. "Open refuses it" marks keys about
security: `open` raises a `ZError` with the name of the key, because it would run without this
protection. A section with `enabled: false` causes neither a warning nor an error.
"""


def page() -> str:
    """The whole document."""
    rows = [_row(key) for key in KEYS.values() if not key.path.startswith("limits/")]
    return (
        f"{_HEAD}\n| Key | Default | Type | Meaning |\n|---|---|---|---|\n"
        + "\n".join(rows)
        + "\n\nThe [limits](reference/limits.md) can be read as `limits/...`. These can be set:\n\n"
        + "".join(f"- `{path}`: {KEYS[path].meaning}\n" for path in sorted(HONOURED_LIMITS))
        + "\nThe others are built in. Setting one to another value raises a `ZError`.\n"
    )


def _row(key: Key) -> str:
    default = key.default if key.effective is None or key.default is not None else key.effective
    meaning = key.meaning
    if not key.honoured:
        meaning = f"{key.effect.value}; {meaning}" if meaning else key.effect.value
    cells = (f"`{key.path}`", _default_text(default), key.kind.name, meaning)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _default_text(value: Any) -> str:
    if isinstance(value, dict) and value and set(value) <= set(MODES):
        return ", ".join(f"{mode} {_json(value[mode])}" for mode in MODES if mode in value)
    return _json(value)


def _json(value: Any) -> str:
    return f"`{json.dumps(value)}`"
