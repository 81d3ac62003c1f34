"""zenlake router explain: the routers that forward a publication or query, and why.

Each router explains its own decision, through its admin space (admin/explain.py); if it forwards
the message to another router, that router is queried next.
"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from zenlake.cli.output import print_json
from zenlake.errors import LocalError, ZenlakeError

if TYPE_CHECKING:
    from zenlake.api.session.session import Session

EXAMPLES = """examples:
  zenlake router explain robot/7/pose
  zenlake router explain robot/7/pose --from 38a1bf -e tcp/router.example:7447
  zenlake router explain 'robot/*/state' --query --target all_complete
  zenlake router explain robot/7/pose --json | jq .decisions

exit codes: 0 a node receives it; 1 no node does; 2 no router answered, or wrong arguments
"""
_DEFAULT_ENDPOINT: Final = "tcp/127.0.0.1:7447"
_TARGETS: Final = ("best_matching", "all", "all_complete")
_ANSWER_S: Final = 3.0
_HOPS_MAX: Final = 64
_SILENT: Final = "it does not explain (it is no zenlake router, or its admin space may not be read)"

Json = dict[str, Any]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    parser.add_argument("key", metavar="KEY", help="the key, or key expression, of the message")
    parser.add_argument(
        "--from",
        dest="source",
        metavar="ZID",
        help="the node that sends it; by default a new client of the router",
    )
    parser.add_argument(
        "-e", "--connect", metavar="ENDPOINT", default=_DEFAULT_ENDPOINT, help="of the router"
    )
    parser.add_argument(
        "--query", action="store_true", help="explain a query instead of a publication"
    )
    parser.add_argument(
        "--target",
        choices=_TARGETS,
        default=_TARGETS[0],
        metavar="TARGET",
        help=f"of a query: {', '.join(_TARGETS)}",
    )
    parser.add_argument(
        "--json", action="store_true", help="one JSON object per line, for each router"
    )


def run(args: argparse.Namespace) -> int:
    from zenlake.cli.router_explain_text import text_of
    from zenlake.keyexpr import KeyExpr

    KeyExpr(args.key)
    with _open(args.connect) as session:
        own = str(session.zid())
        steps = Walk(session, args.key, args.query, args.target).walk(args.source or own)
    if args.json:
        for step in steps:
            print_json(step)
    else:
        print(text_of(steps, own))
    return 0 if any(is_received(step) for step in steps) else 1


def is_received(step: Json) -> bool:
    """Whether a neighbour that is no router receives it, or a router that does not explain."""
    return "error" in step or any(one["whatami"] != "router" for one in step["sent_to"])


def _open(endpoint: str) -> Session:
    import zenlake

    config = zenlake.Config()
    config.insert_json5("mode", '"client"')
    config.insert_json5("scouting/multicast/enabled", "false")
    config.insert_json5("connect/endpoints", json.dumps([endpoint]))
    try:
        return zenlake.open(config)
    except ZenlakeError as error:
        raise LocalError(f"no router at {endpoint}: {error}") from None


class Walk:
    """Follows a message from router to router."""

    def __init__(self, session: Session, key: str, is_query: bool, target: str) -> None:
        self._session = session
        self._is_query = is_query
        self._parameters = f"key={quote(key, safe='/*$@')}"
        if is_query:
            self._parameters += f";query=true;target={target}"
        self._key = key

    def walk(self, source: str) -> list[Json]:
        """The explanations of the routers, in the order in which the message reaches them."""
        node = self._node_of(source)
        steps: list[Json] = []
        waiting: list[tuple[str, str, str | None]] = [(node, source, None)]
        visited = {node}
        while waiting and len(steps) < _HOPS_MAX:
            node, source, root = waiting.pop(0)
            step = self._ask(node, source, root)
            if "error" in step and not steps:
                raise LocalError(f"router {node} cannot explain: {step['error']}")
            steps.append(step)
            for hop in step.get("sent_to", ()):
                if hop["whatami"] == "router" and hop["zid"] not in visited:
                    visited.add(hop["zid"])
                    waiting.append((hop["zid"], node, step["root"]))
        return steps

    def _neighbour(self) -> str:
        """The node that the session is connected to."""
        info = self._session.info
        zids = [*info.routers_zid(), *info.peers_zid()]
        if not zids:
            raise LocalError("the router has closed the connection")
        return str(zids[0])

    def _node_of(self, source: str) -> str:
        """The node through which `source` sends: itself, or a node with a session to it."""
        neighbour = self._neighbour()
        if source == str(self._session.zid()):
            return neighbour
        roots: dict[str, set[str]] = {}
        for reply in self._session.get("@/*/*", timeout=_ANSWER_S):
            if reply.ok is not None:
                root = json.loads(reply.ok.payload.to_bytes())
                roots[root["zid"]] = {one["peer"] for one in root["sessions"]}
        if source in roots:
            return source
        if source in roots.get(neighbour, ()):
            return neighbour
        for zid, peers in roots.items():
            if source in peers:
                return zid
        raise LocalError(f"no node whose admin space answers has a session with {source}")

    def _ask(self, node: str, source: str, root: str | None) -> Json:
        parameters = f"{self._parameters};from={source}"
        if root is not None:
            parameters += f";root={root}"
        selector = f"@/{node}/*/zenlake/explain?{parameters}"
        for reply in self._session.get(selector, timeout=_ANSWER_S):
            if reply.ok is not None:
                step: Json = json.loads(reply.ok.payload.to_bytes())
                return step
            if reply.err is not None:
                return self._silent(node, reply.err.payload.to_string())
        return self._silent(node, _SILENT)

    def _silent(self, node: str, why: str) -> Json:
        """A router that does not explain; its admin space may still list declarations."""
        name = "queryable" if self._is_query else "subscriber"
        sources: dict[str, list[str]] = {}
        if "@" not in self._key:
            for reply in self._session.get(f"@/{node}/*/{name}/{self._key}", timeout=_ANSWER_S):
                if reply.ok is not None:
                    declared = str(reply.ok.key_expr).split(f"/{name}/", 1)[1]
                    found = json.loads(reply.ok.payload.to_bytes())
                    sources[declared] = [*found["peers"], *found["clients"]]
        return {"node": {"zid": node}, "error": why, "declared": sources}
