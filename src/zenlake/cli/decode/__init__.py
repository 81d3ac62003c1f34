"""zenlake decode; `command` has the arguments."""

from __future__ import annotations

from zenlake.cli.decode.command import add_arguments, run

__all__ = ["add_arguments", "run"]
