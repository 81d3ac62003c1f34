"""Key expressions: what names are, which of them match, and what a query asks for.

    canonical       which texts are key expressions, and their one spelling
    matching        intersects, includes, relation; bounded cost
    texts           the same of texts that a peer sent, which may be no key expressions
    prefix          taking a beginning off an expression
    key_expr        KeyExpr, the value users hold
    parameters, selector, time_range
                    the rest of a query's text
    key_format      key expressions with named places
    tree            many expressions matched at once (tree_node, pattern_index, expr_automaton and
                    search are its parts)

Nothing here knows about bytes on the wire, sessions, clocks or sockets.
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
