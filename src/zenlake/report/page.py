"""Page: all sections as one HTML document without external resources.

Data from captures is in one block of JSON, which browsers do not execute, and is inserted into the
document as text. The content security policy forbids other scripts, other styles, and the network.
"""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib import resources
from string import Template
from typing import Any, Final

_ASSETS: Final = resources.files("zenlake.report") / "assets"
_STYLES: Final = ("page.css", "sections.css", "screens.css")
_LIBRARY: Final = "echarts.min.js"
_SCRIPTS: Final = (
    "text.js",
    "key_expressions.js",
    "elements.js",
    "items.js",
    "filters.js",
    "charts.js",
    "zoom.js",
    "traffic.js",
    "key_tree.js",
    "treemap.js",
    "keys.js",
    "queries.js",
    "waterfall.js",
    "stories.js",
    "declarations.js",
    "graph_layout.js",
    "topology.js",
    "losses.js",
    "violations.js",
    "main.js",
)
_ESCAPES: Final = {"<": r"\u003c", ">": r"\u003e", "&": r"\u0026"}
"""Characters that could end the block in HTML, escaped for JSON."""


def html(data: dict[str, Any]) -> str:
    library, script, style = _asset(_LIBRARY), _script(), "\n".join(map(_asset, _STYLES))
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src {_hash(library)} {_hash(script)}",
            f"style-src {_hash(style)}",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    return Template(_asset("page.html")).substitute(
        policy=policy, style=style, library=library, script=script, data=as_json(data)
    )


def as_json(data: Any) -> str:
    """The data as JSON in ASCII, which has no direction marks and no line separators."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    for character, escape in _ESCAPES.items():
        text = text.replace(character, escape)
    return text


@cache
def _asset(name: str) -> str:
    return (_ASSETS / name).read_text("utf-8")


@cache
def _script() -> str:
    """All scripts in the order of their dependencies, in one scope."""
    return "(() => {\n'use strict';\n" + "\n".join(map(_asset, _SCRIPTS)) + "\n})();"


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
