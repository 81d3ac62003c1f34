"""`mypyc_attr`: options of the compiler for a class; without the compiler it does nothing.

acyclic=True                       its instances are never part of a cycle, so that the
                                   garbage collector need not look at them: messages and
                                   values, of which a busy node makes millions
allow_interpreted_subclasses=True  plain Python may derive from it
"""

from __future__ import annotations

try:
    from mypy_extensions import mypyc_attr
except ImportError:
    from zenlake._uncompiled import mypyc_attr

__all__ = ["mypyc_attr"]
