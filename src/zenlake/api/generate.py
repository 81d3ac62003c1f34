"""Write the documents that are printed from tables: `python -m zenlake.api.generate`."""

from __future__ import annotations

from pathlib import Path

from zenlake.api.documents import compatibility, configuration


def documents() -> dict[str, str]:
    """Text by name within `docs/`."""
    return {"compatibility.md": compatibility.page(), "configuration.md": configuration.page()}


def main() -> None:
    folder = Path(__file__).parents[3] / "docs"
    for name, text in documents().items():
        (folder / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
