"""Run one seed, and report the result."""

from __future__ import annotations

import traceback
from collections import Counter
from dataclasses import dataclass

from zenlake.testing.simulation.world import World


@dataclass
class Outcome:
    """`failure` is empty if all invariants held."""

    seed: int
    options: str
    failure: str
    counts: Counter[str]
    lines: list[str]
    promises: int
    happened: int

    def report(self) -> str:
        lines = [*self.lines, f"seed {self.seed}: {self.failure or 'all invariants hold'}"]
        if self.failure:
            options = f"{self.options} --seed {self.seed} --trace"
            lines.append(f"again: python -m zenlake.testing.simulation{options}")
        return "\n".join(lines)


def run_seed(
    seed: int, *, with_routers: bool = False, two_homes: bool = False, keeps_all: bool = False
) -> Outcome:
    """Run a seed; any exception in the run is its failure."""
    world = World(seed, with_routers=with_routers, two_homes=two_homes, keeps_all=keeps_all)
    failure = ""
    try:
        world.run()
    except AssertionError as error:
        failure = str(error) or traceback.format_exc()
    except Exception:
        failure = traceback.format_exc()
    return Outcome(
        seed,
        (" --routers" if with_routers else "") + (" --two-homes" if two_homes else ""),
        failure,
        world.journal.counts,
        world.journal.lines(),
        world.ledger.promises.made,
        world.timeline.happened,
    )
