"""Whole networks of nodes in virtual time, from a seed.

    python -m zenlake.testing.simulation --seed 7 --trace
    python -m zenlake.testing.simulation --seeds 0..1000

    timeline    virtual time            journal     the log of a run, and counts
    plan        the network of a seed   world       all nodes, and the course of a run
    wire, wire_end                      a connection
    unit_check, accounts                its messages, decoded and checked
    node        the real components     application, workload, faults
    records, promises, ledger, reach    which messages must arrive where, and which must not
    model, leftovers                    the state that nodes must have at the end, and must not

The nodes use the unchanged classes of `protocol`, `routing` and `session`; sockets, threads and
clocks are replaced. The same seed always produces the same run.
"""

from zenlake.testing.simulation.journal import InvariantError
from zenlake.testing.simulation.run import Outcome, run_seed
from zenlake.testing.simulation.world import World

__all__ = ["InvariantError", "Outcome", "World", "run_seed"]
