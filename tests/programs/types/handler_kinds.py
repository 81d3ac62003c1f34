"""The type of `.handler` for each kind of handler, in every method with one."""

from queue import Queue
from typing import Any, assert_type

import zenoh
from zenoh.handlers import Callback, DefaultHandler, FifoChannel, Handler, RingChannel

Hellos = Handler[zenoh.Hello]
Queries = Handler[zenoh.Query]
Replies = Handler[zenoh.Reply]
Samples = Handler[zenoh.Sample]
Statuses = Handler[zenoh.MatchingStatus]
LinkEvents = Handler[zenoh.LinkEvent]
TransportEvents = Handler[zenoh.TransportEvent]


def on_sample(sample: zenoh.Sample) -> None: ...
def on_query(query: zenoh.Query) -> Any: ...
def on_reply(reply: zenoh.Reply) -> None: ...
def on_status(status: zenoh.MatchingStatus) -> None: ...
def on_link(event: zenoh.LinkEvent) -> None: ...
def on_transport(event: zenoh.TransportEvent) -> None: ...
def on_anything(item: object) -> None: ...


class Counter:
    def __call__(self, item: Any) -> Any: ...


def subscribers(session: zenoh.Session, key: zenoh.KeyExpr) -> None:
    queue: Queue[zenoh.Sample] = Queue()
    declare = session.declare_subscriber
    assert_type(declare("k"), zenoh.Subscriber[Samples])
    assert_type(declare(key, None), zenoh.Subscriber[Samples])
    assert_type(declare(key, DefaultHandler()), zenoh.Subscriber[Samples])
    assert_type(declare(key, FifoChannel(3)), zenoh.Subscriber[Samples])
    assert_type(declare(key, handler=RingChannel(3)), zenoh.Subscriber[Samples])
    assert_type(declare(key, on_sample), zenoh.Subscriber[None])
    assert_type(declare(key, on_anything), zenoh.Subscriber[None])
    assert_type(declare(key, Counter()), zenoh.Subscriber[None])
    assert_type(declare(key, lambda sample: sample.payload), zenoh.Subscriber[None])
    assert_type(declare(key, Callback(on_sample)), zenoh.Subscriber[None])
    assert_type(declare(key, Callback(on_sample, indirect=False)), zenoh.Subscriber[None])
    assert_type(declare(key, (queue.put, queue)), zenoh.Subscriber[Queue[zenoh.Sample]])
    assert_type(declare(key, (on_sample, 7)).handler, int)
    assert_type(declare(key, allowed_origin=zenoh.Locality.ANY).handler, Samples)
    with declare(key) as subscriber:
        assert_type(subscriber, zenoh.Subscriber[Samples])
        assert_type(subscriber.recv(), zenoh.Sample)
        assert_type(subscriber.try_recv(), zenoh.Sample | None)
        assert_type(iter(subscriber), Samples)
        assert_type([sample.payload for sample in subscriber], list[zenoh.ZBytes])
        assert_type(next(subscriber.handler), zenoh.Sample)


def bare(subscriber: zenoh.Subscriber, queryable: zenoh.Queryable, handler: Handler) -> None:
    assert_type(subscriber.recv(), zenoh.Sample)
    assert_type(queryable.try_recv(), zenoh.Query | None)
    assert_type(handler.recv(), Any)


def queryables(session: zenoh.Session) -> None:
    declare = session.declare_queryable
    assert_type(declare("k", complete=True), zenoh.Queryable[Queries])
    assert_type(declare("k", FifoChannel(1)), zenoh.Queryable[Queries])
    assert_type(declare("k", on_query, complete=True), zenoh.Queryable[None])
    assert_type(declare("k", (on_query, "mine")), zenoh.Queryable[str])
    assert_type(declare("k").recv(), zenoh.Query)
    with declare("k") as queryable, queryable.recv() as query:
        assert_type(query, zenoh.Query)
    for query in declare("k", allowed_origin=zenoh.Locality.REMOTE):
        assert_type(query.selector, zenoh.Selector)


def queries(session: zenoh.Session, options: dict[str, Any]) -> None:
    token = zenoh.CancellationToken()
    assert_type(session.get("k"), Replies)
    assert_type(session.get(zenoh.Selector("k", {"a": "1"}), timeout=1), Replies)
    assert_type(session.get("k?a", RingChannel(2), payload="p", attachment=None), Replies)
    assert_type(session.get("k", (on_reply, 1.5), cancellation_token=token), float)
    replies: Replies = session.get("k", **options)
    print(replies)
    session.get("k", on_reply, target=zenoh.QueryTarget.ALL)
    session.get("k", lambda reply: print(reply.ok), consolidation=zenoh.ConsolidationMode.NONE)
    for reply in session.get("k"):
        assert_type(reply.result, zenoh.Sample | zenoh.ReplyError)
        if reply.ok:
            assert_type(reply.ok.payload.to_string(), str)
    querier = session.declare_querier("k", timeout=0.5)
    assert_type(querier.get(), Replies)
    assert_type(querier.get(FifoChannel(2), parameters={"a": "b"}), Replies)
    assert_type(querier.get((on_reply, b"mine"), payload=b"p"), bytes)
    querier.get(Callback(on_reply), encoding=zenoh.Encoding.TEXT_PLAIN)


def liveliness(session: zenoh.Session) -> None:
    alive = session.liveliness()
    assert_type(alive.get("k", timeout=2.0), Replies)
    assert_type(alive.get("k", (on_reply, 1)), int)
    alive.get("k", on_reply)
    assert_type(alive.declare_subscriber("k", history=True), zenoh.Subscriber[Samples])
    assert_type(alive.declare_subscriber("k", on_sample), zenoh.Subscriber[None])
    assert_type(alive.declare_subscriber("k", (on_sample, 1)), zenoh.Subscriber[int])
    with alive.declare_token("k") as token:
        assert_type(token, zenoh.LivelinessToken)


def listeners(session: zenoh.Session) -> None:
    with session.declare_publisher("k") as publisher, session.declare_querier("k") as querier:
        listen, ask = publisher.declare_matching_listener, querier.declare_matching_listener
        assert_type(listen(), zenoh.MatchingListener[Statuses])
        assert_type(listen(RingChannel(1)).recv(), zenoh.MatchingStatus)
        assert_type(listen(on_status), zenoh.MatchingListener[None])
        assert_type(ask((on_status, 1)), zenoh.MatchingListener[int])
        assert_type(ask().try_recv(), zenoh.MatchingStatus | None)
    on_links = session.info.declare_link_events_listener
    assert_type(on_links(history=True), zenoh.LinkEventsListener[LinkEvents])
    assert_type(on_links(on_link), zenoh.LinkEventsListener[None])
    assert_type(on_links((on_link, 1)).handler, int)
    assert_type(on_links().recv().link, zenoh.Link)
    on_transports = session.info.declare_transport_events_listener
    assert_type(on_transports(FifoChannel(2)), zenoh.TransportEventsListener[TransportEvents])
    assert_type(on_transports(on_transport), zenoh.TransportEventsListener[None])
    assert_type(on_transports((on_transport, 1), history=True).handler, int)
    with on_transports() as listener:
        assert_type([event.transport for event in listener], list[zenoh.Transport])


def scouts() -> None:
    with zenoh.scout(what="peer|router") as scout:
        assert_type(scout, zenoh.Scout[Hellos])
        assert_type([hello.locators for hello in scout], list[list[str]])
    assert_type(zenoh.scout(FifoChannel(1), config=zenoh.Config()).recv(), zenoh.Hello)
