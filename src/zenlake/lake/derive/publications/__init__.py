"""Publications: which rows of `samples` are hops of one publication, and how long each hop took.

A publication has no number that hops repeat. It is identified by the first of these that applies:

1. Its content (key, kind, payload, encoding, attachment, source information) and its place among
   those with the same content, if that is certain: nodes at both ends of all sessions are known, no
   node received a publication twice, and one of these holds:
   - one node sent it first, to all its neighbours at once, and every session that carried this
     content did so equally often, in the order of the first: routers keep the order, and may add a
     timestamp, but only one;
   - one session had it first, without timestamps, and as many were added, in order;
   - one node received it first, and each came over all its hops in less time than there was
     between any two that this node received.
2. The source information that its publisher sent, or its timestamp, which routers do not change.

Equal contents to which different routers added timestamps are different publications: they are
compared for each of these routers.

Otherwise `trace_id` is null. An example is a burst of equal values of which a later subscriber got
only some: it cannot be known which.

    hashing     texts and bytes to numbers
    contents    the columns of `samples` that are compared, as numbers
    grouping    groups of equal rows, and their minimum, maximum and count
    hops        for each content: its hops, and whether its publications are certain
    places      publications by their place among equal ones
    measuring   for each publication: `trace_id`, the first hop, the latencies
    parts       rows of more samples than fit into memory
    files       reads files of `samples`; writes `latencies` and copies with the final `trace_id`

All of it is NumPy on columns of numbers: the same steps as SQL took five times as long.
"""

from typing import Final

from zenlake.lake.derive.derivation import Derivation
from zenlake.lake.derive.publications.files import (
    PROOFS,
    PUBLISHED,
    SAMPLES,
    PublicationFiles,
)

__all__ = ["PROOFS", "PUBLICATIONS", "PUBLISHED", "SAMPLES", "PublicationFiles"]

PUBLICATIONS: Final = Derivation(PUBLISHED, frozenset({SAMPLES}))
