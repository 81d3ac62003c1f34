"""A program: a client that constantly publishes, subscribes, queries and replies, and counts.

Publications carry a number. A number that comes again is a duplicate; whether one is missing is
seen by probes, when the network is whole again. All clients answer each other's queries, one reply
each: two replies of one client to a query are a duplicate, too.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections import Counter
from typing import Any

from chaos.programs import answer_commands, open_session

PUBLISH_S = 0.02
GET_S = 0.1
GET_TIMEOUT_S = 2.0
GET_GRACE_S = 10.0
"""The time for a query to end after its timeout: routers are paused, and the machine is busy."""


class Client:
    def __init__(self, settings: dict[str, object], module: str, name: str) -> None:
        self._zenoh, self.session = open_session(module, settings)
        self._name = name
        self._is_over = threading.Event()
        self._lock = threading.Lock()
        self._seen: dict[str, set[int]] = {}
        self._alive: Counter[str] = Counter()
        self._probes: set[str] = set()
        self.counts: Counter[str] = Counter()
        self.slowest_get_s = 0.0

    def start(self) -> None:
        declare = self.session.declare_subscriber
        tokens = self.session.liveliness()
        self._declared = [
            declare("chaos/data/*", self._on_sample),
            declare("chaos/probe/*", self._on_probe),
            self.session.declare_queryable(f"chaos/query/{self._name}", self._reply),
            tokens.declare_token(f"chaos/token/{self._name}"),
            tokens.declare_subscriber("chaos/token/*", self._on_token, history=True),
        ]
        for act in (self._publish, self._ask):
            threading.Thread(target=act, daemon=True).start()

    def _on_sample(self, sample: Any) -> None:
        source = str(sample.key_expr).rpartition("/")[2]
        number = int(sample.payload.to_string())
        with self._lock:
            seen = self._seen.setdefault(source, set())
            self.counts["samples"] += 1
            self.counts["duplicates"] += number in seen
            seen.add(number)

    def _on_probe(self, sample: Any) -> None:
        source = str(sample.key_expr).rpartition("/")[2]
        with self._lock:
            self._probes.add(f"{source} {sample.payload.to_string()}")

    def _on_token(self, sample: Any) -> None:
        is_put = sample.kind == self._zenoh.SampleKind.PUT
        with self._lock:
            self._alive[str(sample.key_expr).rpartition("/")[2]] = 1 if is_put else 0

    def _reply(self, query: Any) -> None:
        query.reply(f"chaos/query/{self._name}", "x")

    def _publish(self) -> None:
        publisher = self.session.declare_publisher(f"chaos/data/{self._name}")
        number = 0
        while not self._is_over.wait(PUBLISH_S):
            number += 1
            publisher.put(str(number))
            self.counts["published"] += 1

    def _ask(self) -> None:
        while not self._is_over.wait(GET_S):
            self._get_once()

    def _get_once(self) -> None:
        began = time.monotonic()
        target = self._zenoh.QueryTarget.ALL
        repliers: Counter[str] = Counter()
        self.counts["gets"] += 1
        consolidation = self._zenoh.ConsolidationMode.NONE
        for reply in self.session.get(
            "chaos/query/*", target=target, timeout=GET_TIMEOUT_S, consolidation=consolidation
        ):
            if reply.ok is None:
                self.counts["reply_errors"] += 1
            else:
                repliers[str(reply.ok.key_expr)] += 1
        took_s = time.monotonic() - began
        self.slowest_get_s = max(self.slowest_get_s, took_s)
        self.counts["replies"] += len(repliers)
        self.counts["duplicate_replies"] += sum(repliers.values()) - len(repliers)
        self.counts["gets_ended"] += 1
        self.counts["gets_late"] += took_s > GET_TIMEOUT_S + GET_GRACE_S

    def report(self) -> dict[str, object]:
        with self._lock:
            return {
                "duplicates": 0,
                "duplicate_replies": 0,
                **self.counts,
                "slowest_get_s": round(self.slowest_get_s, 2),
            }

    def publish_probe(self, number: int) -> None:
        self.session.put(f"chaos/probe/{self._name}", str(number))

    def probes(self) -> list[str]:
        with self._lock:
            return sorted(self._probes)

    def repliers(self) -> list[str]:
        """The clients that answer queries now."""
        target = self._zenoh.QueryTarget.ALL
        replies = self.session.get("chaos/query/*", target=target, timeout=GET_TIMEOUT_S)
        return sorted({str(one.ok.key_expr) for one in replies if one.ok is not None})

    def tokens(self) -> list[str]:
        """The tokens that are alive, as the subscriber received them."""
        with self._lock:
            return sorted(name for name, count in self._alive.items() if count)

    def stop(self) -> None:
        """End publications and queries."""
        self._is_over.set()

    def close(self) -> None:
        self.session.close()

    def admin(self, selector: str) -> dict[str, object]:
        """What the admin space of all routers answers, by key."""
        found: dict[str, object] = {}
        for reply in self.session.get(selector, target=self._zenoh.QueryTarget.ALL, timeout=5.0):
            if reply.ok is not None:
                found[str(reply.ok.key_expr)] = json.loads(reply.ok.payload.to_string())
        return found


if __name__ == "__main__":
    client = Client(json.loads(sys.argv[1]), sys.argv[2], sys.argv[3])
    if client._name != "observer":
        client.start()
    answer_commands(
        {
            name: getattr(client, name)
            for name in (
                *("report", "publish_probe", "probes", "repliers", "tokens"),
                *("stop", "close", "admin"),
            )
        }
    )
    os._exit(0)
