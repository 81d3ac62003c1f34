"""Runs a program written for eclipse-zenoh, unchanged, on zenlake: `on_zenlake.py PROGRAM ...`."""

import runpy
import sys
from importlib import import_module

for name in ("", ".ext", ".handlers"):
    sys.modules[f"zenoh{name}"] = import_module(f"zenlake{name}")
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
