"""zenlake ke: compares and canonizes key expressions."""

from __future__ import annotations

import argparse

from zenlake.cli.output import print_json
from zenlake.errors import LocalError
from zenlake.keyexpr import KeyExpr, SetIntersectionLevel

EXAMPLES = """examples:
  zenlake ke canonize 'a/**/**/*'
  zenlake ke intersects 'robot/*/pose' 'robot/**'
  zenlake ke includes 'robot/**' 'robot/7/@meta'
  zenlake ke relation 'a/$*b' 'a/xb'

exit codes: 0 yes (or done); 1 no, or disjoint; 2 not a key expression, with the place
"""
OPERATIONS = ("canonize", "intersects", "includes", "relation")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    parser.add_argument("operation", metavar="OP", choices=OPERATIONS, help=", ".join(OPERATIONS))
    parser.add_argument("a", metavar="A", help="a key expression")
    parser.add_argument("b", metavar="B", nargs="?", help="another, except for canonize")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of text")


def run(args: argparse.Namespace) -> int:
    if (args.b is None) != (args.operation == "canonize"):
        wanted = "one key expression" if args.operation == "canonize" else "two key expressions"
        raise LocalError(f"ke {args.operation} takes {wanted}")
    answer, positive = _answer(args.operation, args.a, args.b)
    if args.json:
        print_json({"operation": args.operation, "a": args.a, "b": args.b, "answer": answer})
    else:
        print(answer if isinstance(answer, str) else str(answer).lower())
    return 0 if positive else 1


def _answer(operation: str, a: str, b: str | None) -> tuple[str | bool, bool]:
    if b is None:
        return str(KeyExpr.autocanonize(a)), True
    first, second = KeyExpr(a), KeyExpr(b)
    if operation == "relation":
        relation = first.relation_to(second)
        return relation.name.lower(), relation != SetIntersectionLevel.DISJOINT
    yes = first.intersects(second) if operation == "intersects" else first.includes(second)
    return yes, yes
