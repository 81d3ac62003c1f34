"""Whole networks of nodes in virtual time, from a seed.

    python -m zenlake.testing.simulation --seed 7 --trace
    python -m zenlake.testing.simulation --seeds 0..1000

    timeline    virtual time            journal     what happened, and how often
    plan        the network of a seed   world       all nodes, and the course of a run
    wire, end   a connection            tap, accounts   what passes on it, decoded
    node        the real machines       application, workload, faults
    records, promises, ledger, reach    what must arrive where, and what must not
    model, leftovers                    what nodes must know at the end, and must not keep

The nodes are made of the machines of `protocol`, `routing` and `session` as they are; sockets,
threads and clocks are replaced. A seed always gives the same run.
"""

from zenlake.testing.simulation.journal import Failure
from zenlake.testing.simulation.run import Outcome, run_seed
from zenlake.testing.simulation.world import World

__all__ = ["Failure", "Outcome", "World", "run_seed"]
