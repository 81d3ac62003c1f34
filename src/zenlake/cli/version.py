"""`--version`: the version, and whether the install is compiled."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from zenlake import __version__
from zenlake._compiled import is_compiled


class ShowVersion(argparse.Action):
    """Like argparse's action, which would build its text and load modules at every start."""

    def __init__(self, option_strings: list[str], dest: str, **_options: Any) -> None:
        text = "show the version, and whether it is compiled"
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, help=text)

    def __call__(self, parser: argparse.ArgumentParser, *_rest: object) -> NoReturn:
        kind = "compiled" if is_compiled() else "not compiled"
        print(f"zenlake {__version__} ({kind})")
        parser.exit()
