"""Node: links, protocol and routing put together, with threads.

One lock guards routing and sessions. A thread that uses them holds it:

    with node.locked:
        session.put(...)
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Iterator
from typing import Final, Protocol

from zenlake.errors import ZenlakeError
from zenlake.forks import leave_to_parent_after_fork, reset_after_fork
from zenlake.links import Link, LinkError, Listener
from zenlake.node.accept import Accepting
from zenlake.node.admin import Admin
from zenlake.node.connect import Connector
from zenlake.node.discovery import Discovery
from zenlake.node.drop_warnings import DropWarnings
from zenlake.node.events import Events
from zenlake.node.group_runner import GroupRunner
from zenlake.node.idle_links import IDLE_LINKS
from zenlake.node.info import LinkInfo, TransportInfo
from zenlake.node.link_deadlines import LinkDeadlines
from zenlake.node.link_log import LinkLog
from zenlake.node.link_runner import LinkRunner
from zenlake.node.node_lock import Locked, NodeLock
from zenlake.node.queue_budget import QueueBudget
from zenlake.node.reader_handover import READER_HANDOVER
from zenlake.node.scouting import Scouting
from zenlake.node.settings import NodeSettings
from zenlake.node.startup import Binder, open_node
from zenlake.node.stats import NO_LOSSES, stats_of
from zenlake.node.tap import Tap
from zenlake.node.threads import ThreadError, join_threads, start_thread
from zenlake.node.timer import Timer
from zenlake.node.transport_claims import TransportClaims
from zenlake.protocol.offer import Offer
from zenlake.protocol.reassembly import HeldBytes, ReassemblyBudget
from zenlake.routing.dispatcher import Dispatcher
from zenlake.wire import EndPoint, QoSLink, WhatAmI, ZenohId

# Threads end at once, except readers that run a callback: programs must exit within a second.
_CLOSE_S: Final = 0.5
_RETIRED_MIN: Final = 16
FRAGMENTS_OF_PROCESS: Final = HeldBytes()
"""The incomplete messages of the sessions of all nodes."""
reset_after_fork(FRAGMENTS_OF_PROCESS.clear)


class _Joined(Protocol):
    def join(self, timeout_s: float) -> None: ...


class Node:
    """One node of a Zenoh network: client, peer or router by its settings."""

    def __init__(self, settings: NodeSettings) -> None:
        dispatcher = Dispatcher(settings.zid, settings.role, settings.routing)
        # An attribute and not the base class: a plain Python class would make its calls slow.
        node_lock = self.node_lock = NodeLock(dispatcher)
        self.dispatcher = dispatcher
        self.begin = node_lock.begin
        self.end = node_lock.end
        self.locked = Locked(node_lock.begin, node_lock.end)
        self.end_reply = node_lock.end_reply
        self.add_session = node_lock.add_session
        self.wake_timer = node_lock.wake_timer
        self.settings = settings
        self.zid: ZenohId = settings.zid
        self.role: WhatAmI = settings.role
        self.budget = ReassemblyBudget(
            settings.reassembly_process_bytes_max,
            settings.reassembly_bytes_max,
            settings.fragment_idle_s,
            settings.reassembly_large_bytes_max,
            FRAGMENTS_OF_PROCESS,
        )
        self.drop_warnings = DropWarnings()
        self.queues = QueueBudget(settings.unsent_process_bytes_max)
        self.claims = TransportClaims(
            settings.zid, settings.max_sessions, settings.sessions_per_address()
        )
        self.events = Events()
        self.tap: Tap | None = None
        """Records the links, if the settings say so."""
        self.link_log = LinkLog()
        self.runners: dict[ZenohId, LinkRunner] = {}
        self.closing = threading.Event()
        self.is_closing = False  # guarded by the node's lock
        self.accepting = Accepting(self)
        self.discovery = Discovery(self)
        self.binders: list[Binder] = []
        self.connectors: list[Connector] = []
        self.scoutings: list[Scouting] = []
        self.groups: list[GroupRunner] = []
        self._link_deadlines = LinkDeadlines()
        self._link_deadlines_lock = threading.Lock()
        self.link_timer = Timer("links", self._next_link_deadline, self._handle_link_timeout)
        self._opening_links: set[Link] = set()
        self._retired: list[LinkRunner] = []
        self._retired_max = _RETIRED_MIN  # at this size, those whose threads have ended are removed
        self.past_losses: Counter[str] = Counter(dict.fromkeys(NO_LOSSES, 0))
        self.admin = Admin(self) if settings.admin.enabled else None
        self._state_lock = threading.Lock()
        self._closer: int | None = None
        self._is_closed = False
        self._is_watched = False  # whether READER_HANDOVER counts this node
        leave_to_parent_after_fork(self)

    def open(self) -> None:
        """Listen, connect, scout; returns when behaviour reference §2.1 says so."""
        try:
            if self.settings.recording is not None:
                from zenlake.recording.recorder import Recorder

                self.tap = Recorder(self.settings.recording)
            READER_HANDOVER.open(self.node_lock.activity)
            IDLE_LINKS.open()
            self._is_watched = True
            self.node_lock.timer.start()
            self.link_timer.start()
            if self.admin is not None:
                self.admin.start()
            open_node(self)
        except BaseException:
            self._close()
            raise
        if self.closing.is_set():  # closed by another thread, which may have missed the last link
            self._close()

    def close(self) -> None:
        """CLOSE on every link, then the end of every thread; calling it twice is harmless.

        If Ctrl-C interrupts it, the next call continues to the end.
        """
        with self._state_lock:
            if self._is_closed or self._closer not in (None, threading.get_ident()):
                return
            self._closer = threading.get_ident()
        try:
            self._close()
            self._is_closed = True
        finally:
            self._closer = None

    def leave_to_parent(self) -> None:
        self.node_lock.leave_to_parent()
        self._is_closed = True
        self._state_lock = threading.Lock()
        self.events = Events()  # new, as another thread may hold the lock of the old one
        for runner in list(self.runners.values()):
            runner.leave_to_parent()
        self.runners = {}

    def _close(self) -> None:
        self.closing.set()
        with self.locked:
            self.is_closing = True
            runners = list(self.runners.values())
        self.claims.close()
        self.accepting.close()
        for scouting in self.scoutings:
            scouting.close()
        for group in self.groups:
            group.close()
        with self._state_lock:
            links = list(self._opening_links)
        for link in links:
            link.close()
        self._close_runners(runners)
        self.node_lock.timer.close()
        self.link_timer.close()
        self.node_lock.job_timer.close()
        if self.admin is not None:
            self.admin.close()
        deadline = time.monotonic() + _CLOSE_S
        self._join_all(deadline)
        with self.node_lock.lock:
            self.dispatcher.close()
        if self._is_watched:
            self._is_watched = False
            READER_HANDOVER.close(self.node_lock.activity, deadline - time.monotonic())
            IDLE_LINKS.close(deadline - time.monotonic())
        if self.tap is not None:
            self.tap.close()

    def _close_runners(self, runners: list[LinkRunner]) -> None:
        """Close all links in parallel: one that does not accept its CLOSE must not delay others."""
        if len(runners) == 1:
            runners[0].close()
            return
        threads = [threading.Thread(target=runner.close, daemon=True) for runner in runners]
        for thread, runner in zip(threads, runners, strict=True):
            try:
                start_thread(thread)
            except ThreadError:
                runner.close()
        join_threads(threads, _CLOSE_S)

    def _join_all(self, deadline: float) -> None:
        joined: list[_Joined] = [
            *self._retired,
            *self.binders,
            *self.connectors,
            *self.scoutings,
            *self.groups,
            self.accepting,
            self.discovery,
            self.node_lock.timer,
            self.link_timer,
            self.node_lock.job_timer,
        ]
        if self.admin is not None:
            joined.append(self.admin)
        for one in joined:
            one.join(max(0.0, deadline - time.monotonic()))

    # --- for the parts of the node -------------------------------------------------------------

    def is_over(self) -> bool:
        return self.closing.is_set()

    def offer(self, link: Link | Listener, endpoint: EndPoint | None = None) -> Offer:
        """The terms that this node offers on a link, or on every link of a listener."""
        own = self.settings
        return Offer(
            own.zid,
            own.role,
            resolution=own.resolution,
            batch_size=min(own.batch_size, link.mtu),
            lease_ms=own.lease_ms,
            keep_alive=own.keep_alive,
            qos=own.qos,
            qos_link=None if endpoint is None else qos_link_of(endpoint),
            low_latency=own.low_latency,
            compression=own.compression,
            user=own.user if endpoint is not None else None,
            password=own.password if endpoint is not None else None,
            users=own.users if endpoint is None else None,
            message_bytes_max=own.message_bytes_max,
            queue_batches=own.queue_batches,
        )

    @contextlib.contextmanager
    def opening(self, link: Link) -> Iterator[None]:
        """A link whose handshake `close` must be able to end."""
        with self._state_lock:
            self._opening_links.add(link)
            if self.closing.is_set():
                link.close()
        try:
            yield
        finally:
            with self._state_lock:
                self._opening_links.discard(link)

    def wait_for_transport(self, zid: ZenohId) -> LinkRunner | None:
        """The transport with a node, which may be about to open: it has a second."""
        deadline = time.monotonic() + 1.0
        while (runner := self.runners.get(zid)) is None and self.claims.has(zid):
            if time.monotonic() > deadline or self.closing.wait(0.01):
                break
        return runner

    def retire(self, runner: LinkRunner) -> None:
        """A transport that is over; its threads end soon, and `close` waits for the last ones."""
        with self._state_lock:
            self._retired.append(runner)
            if len(self._retired) >= self._retired_max:
                alive: list[LinkRunner] = []
                for one in self._retired:
                    if one.is_alive():
                        alive.append(one)
                    else:
                        one.free()
                self._retired = alive
                self._retired_max = max(_RETIRED_MIN, 2 * len(self._retired))

    def update_locators(self) -> None:
        """Announce by gossip where this node listens now."""
        locators = self.accepting.locators()
        with self.locked:
            self.dispatcher.own_locators = locators

    def join_group(self, endpoint: EndPoint) -> None:
        """A multicast group, by listening or connecting to its endpoint."""
        if any(group.endpoint == endpoint for group in self.groups):
            return
        group = GroupRunner(self, endpoint)
        self.groups.append(group)
        try:
            group.start()
        except LinkError:
            self.groups.remove(group)
            raise

    # --- time ----------------------------------------------------------------------------------

    def note_deadline(self, runner: LinkRunner) -> None:
        """Add the deadline of a new link."""
        with self._link_deadlines_lock:
            self._link_deadlines.add(runner, time.monotonic())
            deadline = self._link_deadlines.next_deadline()
        if deadline < self.link_timer.armed:
            self.link_timer.wake()

    def _next_link_deadline(self) -> float:
        with self._link_deadlines_lock:
            return self._link_deadlines.next_deadline()

    def _handle_link_timeout(self, now: float) -> None:
        with self._link_deadlines_lock:
            due = self._link_deadlines.pop_due(now)
        try:
            for runner in due:
                runner.handle_timeout(now)
        finally:
            with self._link_deadlines_lock:
                for runner in due:
                    self._link_deadlines.add(runner, now)

    # --- state ---------------------------------------------------------------------------------

    def transports(self) -> list[TransportInfo]:
        found = [runner.info for runner in list(self.runners.values())]
        return found + [one for group in self.groups for one in group.transports()]

    def links(self) -> list[LinkInfo]:
        found = [runner.link_info() for runner in list(self.runners.values())]
        return found + [one for group in self.groups for one in group.links()]

    def locators(self) -> list[str]:
        return self.accepting.locators()

    def stats(self) -> dict[str, int]:
        """Counters of traffic, and of losses by cause."""
        return stats_of(self, list(self.runners.values()))


def qos_link_of(endpoint: EndPoint) -> QoSLink | None:
    """The priorities and reliability of an endpoint: `prio=1-3`, `rel=1` (wire reference §1.8)."""
    priorities = endpoint.metadata.get("prio")
    reliable = endpoint.metadata.get("rel")
    if priorities is None and reliable is None:
        return None
    first, _, last = (priorities or "").partition("-")
    if (priorities is not None and not (first.isdigit() and (last or first).isdigit())) or (
        reliable not in (None, "0", "1")
    ):
        raise ZenlakeError(f"{endpoint}: prio is a range such as 1-3, rel is 0 or 1")
    return QoSLink.of(
        None if priorities is None else (int(first), int(last or first)),
        None if reliable is None else reliable == "1",
    )
