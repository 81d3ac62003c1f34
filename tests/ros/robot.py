"""ROS 2 nodes on eclipse-zenoh, with the tokens, keys and attachments of rmw_zenoh.

Every call and every callback is recorded, in the format of the sidecars of bundled captures.
"""

from __future__ import annotations

import struct
import threading
import time
from collections.abc import Callable
from hashlib import sha256
from importlib.metadata import version
from typing import Any

import zenoh

from tests.ros.dds import dds_type, mangled
from zenlake.ros.gid import gid_of
from zenlake.ros.names import RMW_SLASH, topic_key

Row = dict[str, Any]


def config(mode: str, **more: Any) -> Any:
    made = zenoh.Config()
    made.insert_json5("mode", f'"{mode}"')
    made.insert_json5("scouting/multicast/enabled", "false")
    made.insert_json5("scouting/gossip/enabled", "false")
    made.insert_json5("transport/shared_memory/enabled", "false")
    for key, value in more.items():
        made.insert_json5(key.replace("__", "/"), str(value).replace("'", '"'))
    return made


def digest(data: bytes) -> Row:
    row: Row = {"len": len(data), "sha256": sha256(data).hexdigest()}
    return row if len(data) > 16 else {**row, "hex": data.hex()}


def attachment(number: int, source_ns: int, gid: str) -> bytes:
    return struct.pack("<qqB", number, source_ns, 16) + bytes.fromhex(gid)


class Notes:
    """Recorded rows in order, by the list of the sidecar that they belong to."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self.lists: dict[str, list[Row]] = {
            name: []
            for name in ("nodes", "events", "received", "queries_received", "liveliness_received")
        }

    def add(self, place: str, **row: Any) -> None:
        with self._lock:
            self._count += 1
            given = {key: value for key, value in row.items() if value is not None}
            self.lists[place].append({"i": self._count, "t": time.time(), **given})


class Context:
    """A Zenoh session: each process of ROS has one. `calls` is its name in the notes."""

    def __init__(self, calls: str, port: int, notes: Notes) -> None:
        self.calls = calls
        self.notes = notes
        connect = f"tcp/127.0.0.1:{port}"
        self.session: Any = zenoh.open(config("client", connect__endpoints=[connect]))
        self.zid = str(self.session.zid())
        self._count = 0
        self._tokens: list[Any] = []
        facts = {"zid": self.zid, "mode": "client", "listen": [], "connect": [connect]}
        whose = {
            "config": {},
            "implementation": "eclipse-zenoh",
            "version": version("eclipse-zenoh"),
        }
        notes.add("nodes", node=calls, **facts, **whose)
        self.event("open", zid=self.zid)

    def event(self, op: str, **row: Any) -> None:
        self.notes.add("events", node=self.calls, op=op, **row)

    def next_id(self) -> int:
        self._count += 1
        return self._count - 1

    def token(self, key: str) -> Any:
        made = self.session.liveliness().declare_token(key)
        self._tokens.append(made)  # an unreferenced token is undeclared
        self.event("declare_token", handle=key, key=key)
        return made

    def watch(self, key: str) -> None:
        """Subscribes to the tokens of the domain, as the graph cache of each context does."""

        def on_change(sample: Any) -> None:
            kind = "put" if sample.kind == zenoh.SampleKind.PUT else "delete"
            row = {"subscriber": "graph", "kind": kind, "key": str(sample.key_expr)}
            self.notes.add("liveliness_received", node=self.calls, **row)

        self.graph = self.session.liveliness().declare_subscriber(key, on_change, history=True)
        row = {"handle": "graph", "key": key, "history": True}
        self.event("declare_liveliness_subscriber", **row)

    def put(self, key: str, payload: bytes, attached: bytes | None = None, **how: Any) -> None:
        words = {name: str(value).rpartition(".")[2].lower() for name, value in how.items()}
        rows = {"payload": digest(payload), "attachment": attached and digest(attached)}
        self.event("put", key=key, **rows, **words)
        self.session.put(key, payload, attachment=attached, **how)

    def subscribe(self, handle: str, key: str) -> Any:
        def on_sample(sample: Any) -> None:
            attached = sample.attachment
            self.notes.add(
                "received",
                node=self.calls,
                subscriber=handle,
                kind="put",
                key=str(sample.key_expr),
                payload=digest(sample.payload.to_bytes()),
                encoding=str(sample.encoding),
                attachment=None if attached is None else digest(attached.to_bytes()),
                timestamp=stamp(sample.timestamp),
                priority=int(sample.priority),
            )

        made = self.session.declare_subscriber(key, on_sample)
        self.event("declare_subscriber", handle=handle, key=key)
        return made

    def serve(self, handle: str, key: str, answer: Callable[[bytes], bytes]) -> Any:
        """Replies with the attachment of the request, as rmw_zenoh does."""

        def on_query(query: Any) -> None:
            request = bytes(query.payload.to_bytes())
            attached = bytes(query.attachment.to_bytes())
            reply = answer(request)
            given = {"payload": digest(reply), "attachment": digest(attached)}
            self.notes.add(
                "queries_received",
                node=self.calls,
                queryable=handle,
                key=str(query.key_expr),
                parameters=str(query.parameters),
                payload=digest(request),
                attachment=digest(attached),
                replies=[{"op": "reply", "key": key, **given}],
            )
            query.reply(key, reply, attachment=attached)

        made = self.session.declare_queryable(key, on_query, complete=True)
        self.event("declare_queryable", handle=handle, key=key, complete=True)
        return made

    def call(self, key: str, payload: bytes, attached: bytes) -> list[bytes]:
        started = time.time()
        found = self.session.get(
            key,
            payload=payload,
            attachment=attached,
            target=zenoh.QueryTarget.ALL_COMPLETE,
            consolidation=zenoh.ConsolidationMode.NONE,
        )
        replies = [reply.ok for reply in found]
        rows = [
            {
                "kind": "put",
                "key": str(one.key_expr),
                "payload": digest(one.payload.to_bytes()),
                "encoding": str(one.encoding),
                "attachment": digest(one.attachment.to_bytes()),
                "priority": int(one.priority),
            }
            for one in replies
        ]
        asked = {"target": "all_complete", "consolidation": "none", "started": started}
        sent = {"payload": digest(payload), "attachment": digest(attached)}
        self.event("get", selector=key, **asked, **sent, replies=rows)
        return [bytes(one.payload.to_bytes()) for one in replies]

    def undeclare(self, handle: str, made: Any) -> None:
        made.undeclare()
        self.event("undeclare", handle=handle)

    def close(self) -> None:
        self.event("close")
        self.session.close()


class Node:
    """A ROS node in a context."""

    def __init__(self, context: Context, namespace: str, name: str, domain: int = 0) -> None:
        self.context = context
        self.domain = domain
        self.number = context.next_id()
        enclave, space = (mangled(one, RMW_SLASH) for one in ("/", namespace))
        self._before = f"@ros2_lv/{domain}/{context.zid}/{self.number}"
        self._whose = f"{enclave}/{space}/{name}"
        self.alive = context.token(f"{self._before}/{self.number}/NN/{self._whose}")

    def entity(self, kind: str, name: str, ros_type: str, type_hash: str, qos: str) -> Entity:
        dds = dds_type(ros_type)
        what = f"{mangled(name, RMW_SLASH)}/{dds}/{type_hash}/{qos}"
        token = f"{self._before}/{self.context.next_id()}/{kind}/{self._whose}/{what}"
        return Entity(self.context, token, topic_key("", self.domain, name, dds, type_hash))


class Entity:
    """A publisher, subscription, service or client: a token, and the key of its data."""

    def __init__(self, context: Context, token: str, key: str) -> None:
        self.context = context
        self.token = token
        self.key = key
        self.gid = gid_of(token)
        self.alive = context.token(token)
        self._number = 0

    def attach(self) -> bytes:
        self._number += 1
        return attachment(self._number, time.time_ns(), self.gid)

    def publish(self, payload: bytes, is_lost: bool = False) -> None:
        """Publishes; a message that congestion drops uses a sequence number too."""
        attached = self.attach()
        if not is_lost:
            drop = zenoh.CongestionControl.DROP
            self.context.put(self.key, payload, attached, congestion_control=drop)

    def undeclare(self) -> None:
        self.context.undeclare(self.token, self.alive)


def stamp(timestamp: Any) -> str | None:
    """`<ntp64>/<id>`, as sidecars write it."""
    return None if timestamp is None else str(timestamp)
