"""Key expressions: their canonical form, matching, and selectors of queries.

    canonical       validation, and the canonical spelling
    matching        intersects, includes, relation; bounded cost
    texts           matching of texts from a peer, which may be invalid key expressions
    prefix          removing a prefix from an expression
    key_expr        KeyExpr, the class of the public API
    parameters, selector, time_range
                    the rest of a query's text
    key_format      key expressions with named places
    tree            many expressions matched at once (tree_node, pattern_index, expr_automaton and
                    search are its parts)

This package does not use the wire format, sessions, clocks or sockets.
"""

from zenlake.keyexpr.canonical import canonize, validate
from zenlake.keyexpr.key_expr import KeyExpr
from zenlake.keyexpr.key_format import KeyFormat, KeyFormatter
from zenlake.keyexpr.matching import includes, intersects, relation
from zenlake.keyexpr.parameters import Parameters
from zenlake.keyexpr.selector import Selector
from zenlake.keyexpr.set_intersection_level import SetIntersectionLevel
from zenlake.keyexpr.time_range import TimeBound, TimeRange
from zenlake.keyexpr.tree import KeyTree

__all__ = [
    "KeyExpr",
    "KeyFormat",
    "KeyFormatter",
    "KeyTree",
    "Parameters",
    "Selector",
    "SetIntersectionLevel",
    "TimeBound",
    "TimeRange",
    "canonize",
    "includes",
    "intersects",
    "relation",
    "validate",
]
