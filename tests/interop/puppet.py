"""A node that another process controls: `puppet.py MODULE` runs on any module with Zenoh's API.

One JSON object a line on standard input (`{"do": name, ...}`), one answer a line on standard
output. It uses only what eclipse-zenoh has had since 1.0, unless asked for more, so that every
release can be the other side; it must not import anything of this project.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import random
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

Json = dict[str, Any]


class Inbox:
    """The items of callbacks, in order."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self.changed = threading.Condition()

    def add(self, item: Any) -> None:
        with self.changed:
            self.items.append(item)
            self.changed.notify_all()

    def wait(self, count: int, seconds: float) -> list[Any]:
        with self.changed:
            self.changed.wait_for(lambda: len(self.items) >= count, seconds)
            return list(self.items)


class Puppet:
    def __init__(self, module: str) -> None:
        self.z: Any = importlib.import_module(module)
        self.session: Any = None
        self.entities: dict[str, Any] = {}
        self.inboxes: dict[str, Inbox] = {}

    # Commands, each a method of the same name.

    def open(self, config: Json) -> Json:
        made = self.z.Config()
        for key, value in config.items():
            made.insert_json5(key, json.dumps(value))
        self.session = self.z.open(made)
        return {"zid": str(self.session.zid())}

    def close(self) -> Json:
        """Restore the state before the first `open`; a second call does nothing."""
        start = time.monotonic()
        if self.session is not None:
            self.session.close()
        self.session = None
        self.entities.clear()
        self.inboxes.clear()
        return {"seconds": time.monotonic() - start}

    def put(self, key: str, payload: str, count: int = 1, **options: Any) -> Json:
        for _ in range(count):
            self.session.put(key, bytes.fromhex(payload), **self._options(options))
        return {}

    def fill(self, key: str, bytes: int, **options: Any) -> Json:
        """A payload that is too large to be reported in full."""
        self.session.put(key, _pattern(bytes), **self._options(options))
        return {}

    def flood(self, key: str, bytes: int, **options: Any) -> Json:
        """Publishes from a thread until the session is closed."""
        payload, made = _pattern(bytes), self._options(options)

        def publish() -> None:
            with contextlib.suppress(Exception):
                while True:
                    self.session.put(key, payload, **made)

        threading.Thread(target=publish, daemon=True).start()
        return {}

    def delete(self, key: str, **options: Any) -> Json:
        self.session.delete(key, **self._options(options))
        return {}

    def publisher(self, name: str, key: str, **options: Any) -> Json:
        self.entities[name] = self.session.declare_publisher(key, **self._options(options))
        return {}

    def publish(self, name: str, payload: str, **options: Any) -> Json:
        self.entities[name].put(bytes.fromhex(payload), **self._options(options))
        return {}

    def unpublish(self, name: str, **options: Any) -> Json:
        self.entities[name].delete(**self._options(options))
        return {}

    def subscribe(self, name: str, key: str, **options: Any) -> Json:
        inbox = self.inboxes[name] = Inbox()

        def add(sample: Any) -> None:
            inbox.add(self._sample(sample))

        self.entities[name] = self.session.declare_subscriber(key, add, **self._options(options))
        return {}

    def queryable(self, name: str, key: str, replies: list[Json], **options: Any) -> Json:
        """Declare a queryable that answers each query with `replies`, `after` seconds apart."""
        inbox = self.inboxes[name] = Inbox()

        def answer(query: Any) -> None:
            inbox.add(self._query(query))
            # In 1.0.4 a queryable ends when it is garbage collected.
            with query if hasattr(query, "drop") else contextlib.nullcontext():
                for reply in replies:
                    self._reply(query, reply)

        answering: Callable[[Any], None] = answer
        self.entities[name] = self.session.declare_queryable(
            key, answering, **self._options(options)
        )
        return {}

    def get(self, selector: str, **options: Any) -> Json:
        start = time.monotonic()
        asked = self.session.get(selector, **self._options(options))
        replies = [self._answer(one) for one in asked]
        return {"replies": replies, "seconds": time.monotonic() - start}

    def whole(self, selector: str, **options: Any) -> Json:
        """All of each reply: `get` leaves out what is long. `errors` counts those that are none."""
        found = []
        errors = 0
        for reply in self.session.get(selector, **self._options(options)):
            if reply.ok is None:
                errors += 1
                continue
            sample = self._sample(reply.ok)
            replier = getattr(reply, "replier_id", None)
            sample["payload"] = reply.ok.payload.to_bytes().hex()
            sample["replier"] = None if replier is None else [str(replier.zid), replier.eid]
            found.append(sample)
        return {"replies": found, "errors": errors}

    def querier(self, name: str, key: str, **options: Any) -> Json:
        self.entities[name] = self.session.declare_querier(key, **self._options(options))
        return {}

    def ask(self, name: str, **options: Any) -> Json:
        asked = self.entities[name].get(**self._options(options))
        return {"replies": [self._answer(one) for one in asked]}

    def cancelled(self, selector: str, after: float) -> Json:
        token = self.z.CancellationToken()
        threading.Timer(after, token.cancel).start()
        start = time.monotonic()
        replies = list(self.session.get(selector, cancellation_token=token))
        return {"replies": len(replies), "seconds": time.monotonic() - start}

    def token(self, name: str, key: str) -> Json:
        self.entities[name] = self.session.liveliness().declare_token(key)
        return {}

    def watch(self, name: str, key: str, history: bool = False) -> Json:
        inbox = self.inboxes[name] = Inbox()

        def add(sample: Any) -> None:
            inbox.add([_word(sample.kind), str(sample.key_expr)])

        self.entities[name] = self.session.liveliness().declare_subscriber(
            key, add, history=history
        )
        return {}

    def alive(self, key: str) -> Json:
        replies = self.session.liveliness().get(key, timeout=5.0)
        return {"keys": sorted(str(reply.ok.key_expr) for reply in replies)}

    def matching(self, name: str, of: str) -> Json:
        inbox = self.inboxes[name] = Inbox()

        def add(status: Any) -> None:
            inbox.add(status.matching)

        self.entities[name] = self.entities[of].declare_matching_listener(add)
        return {}

    def is_matching(self, name: str) -> Json:
        status = self.entities[name].matching_status
        return {"matching": status if isinstance(status, bool) else status.matching}

    def received(self, name: str, count: int, seconds: float = 5.0, quiet: float = 0.2) -> Json:
        """Wait for `count` items, then a moment for unexpected ones."""
        items = self.inboxes[name].wait(count, seconds)
        if len(items) >= count and quiet:
            items = self.inboxes[name].wait(count + 1, quiet)
        return {"items": items}

    def undeclare(self, name: str) -> Json:
        self.entities.pop(name).undeclare()
        return {}

    def churn(self, seed: int, seconds: float) -> Json:
        """Declare, undeclare, publish, query and reply, without waiting."""
        chance, end, done = random.Random(seed), time.monotonic() + seconds, 0
        held: list[Any] = []
        session, live, ring = self.session, self.session.liveliness(), self.z.handlers.RingChannel

        def keep(declare: Callable[..., Any], *arguments: Any) -> None:
            held.append(declare(*arguments))

        while time.monotonic() < end:
            key = f"churn/{chance.randrange(5)}/{chance.choice('ab*')}"
            acts: list[Callable[[], Any]] = [
                partial(session.put, key, b"x" * chance.choice((1, 1, 9, 90_000))),
                partial(session.delete, key),
                partial(session.get, key, ring(1), timeout=chance.choice((0.01, 0.02, 5))),
                partial(live.get, key, ring(1)),
                partial(keep, session.declare_subscriber, key, ring(1)),
                partial(keep, session.declare_queryable, key, ring(1)),
                partial(keep, session.declare_publisher, key),
                partial(keep, live.declare_token, key),
                partial(keep, live.declare_subscriber, key, ring(1)),
            ]
            chance.choice(acts)()
            for one in held:
                if isinstance(one, self.z.Queryable) and (query := one.try_recv()) is not None:
                    query.reply(query.key_expr, b"answer")
                    del query  # which ends the session
            if len(held) > chance.randrange(20):
                held.pop(chance.randrange(len(held))).undeclare()
            done += 1
            time.sleep(0.002)  # up to 500 acts a second
        return {"done": done}

    def info(self) -> Json:
        info = self.session.info
        info = info() if callable(info) else info
        return {
            "routers": sorted(map(str, info.routers_zid())),
            "peers": sorted(map(str, info.peers_zid())),
        }

    # Between JSON and the API.

    def _options(self, options: Json) -> Json:
        kinds = {
            "congestion_control": "CongestionControl",
            "priority": "Priority",
            "reliability": "Reliability",
            "target": "QueryTarget",
            "consolidation": "ConsolidationMode",
            "allowed_destination": "Locality",
            "allowed_origin": "Locality",
            "accept_replies": "ReplyKeyExpr",
        }
        made: Json = {}
        for name, value in options.items():
            if name in kinds:
                value = getattr(getattr(self.z, kinds[name]), value)
            elif name in ("payload", "attachment"):
                value = bytes.fromhex(value)
            elif name == "timestamp":
                value = self.session.new_timestamp()
            elif name == "source_sn":
                name, value = "source_info", self._source_info(value)
            made[name] = value
        return made

    def _source_info(self, sn: int) -> Any:
        return self.z.SourceInfo(self.session.id, sn)

    def _reply(self, query: Any, reply: Json) -> None:
        options = {key: value for key, value in reply.items() if key not in _REPLY}
        time.sleep(reply.get("after", 0))
        if "error" in reply:
            query.reply_err(bytes.fromhex(reply["error"]), **self._options(options))
        elif "deleted" in reply:
            query.reply_del(reply["deleted"], **self._options(options))
        else:
            data = _pattern(reply["bytes"]) if "bytes" in reply else bytes.fromhex(reply["value"])
            for _ in range(reply.get("times", 1)):
                query.reply(reply["key"], data, **self._options(options))

    def _sample(self, sample: Any) -> Json:
        found = {
            "kind": _word(sample.kind),
            "key": str(sample.key_expr),
            "payload": _shown(sample.payload),
            "encoding": str(sample.encoding),
            "priority": _word(sample.priority),
            "congestion": _word(sample.congestion_control),
            "express": sample.express,
            "attachment": None if sample.attachment is None else _shown(sample.attachment),
            "timestamp": None if sample.timestamp is None else str(sample.timestamp.get_id()),
        }
        source = getattr(sample, "source_info", None)
        if source is not None and source.source_id is not None:
            found["source"] = [str(source.source_id.zid), source.source_sn]
        return found

    def _query(self, query: Any) -> Json:
        payload = query.payload
        return {
            "selector": str(query.selector),
            "payload": None if payload is None else _shown(payload),
            "encoding": None if payload is None else str(query.encoding),
            "attachment": None if query.attachment is None else _shown(query.attachment),
        }

    def _answer(self, reply: Any) -> Json:
        if reply.ok is not None:
            return {"ok": self._sample(reply.ok)}
        return {"error": _shown(reply.err.payload), "encoding": str(reply.err.encoding)}


_REPLY = {"after", "key", "value", "bytes", "times", "error", "deleted"}
_SHOWN_BYTES_MAX = 256


def _pattern(size: int) -> bytes:
    return (bytes(range(251)) * (size // 251 + 1))[:size]


def _shown(payload: Any) -> str | int:
    """Bytes in hexadecimal; only the length of a long payload of `fill`."""
    data = payload.to_bytes()
    if len(data) <= _SHOWN_BYTES_MAX:
        return str(data.hex())
    return len(data) if data == _pattern(len(data)) else -len(data)


def _word(value: Any) -> str:
    return str(value).rpartition(".")[2]


def main() -> None:
    puppet = Puppet(sys.argv[1])
    for line in sys.stdin:
        asked = json.loads(line)
        do = asked.pop("do")
        if do == "exit":
            break
        try:
            answer = getattr(puppet, do)(**asked)
        except Exception as error:
            answer = {"raised": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)
    if "--leave-open" in sys.argv:
        os._exit(0)


if __name__ == "__main__":
    main()
