"""One way or more to break each rule."""

from tests.rules.faults import asking, meeting, on_the_wire, opening, talking
from tests.rules.faults.fault import FAULTS, Fault

__all__ = ["FAULTS", "Fault", "asking", "meeting", "on_the_wire", "opening", "talking"]
