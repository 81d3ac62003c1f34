"""Consolidation equals a simple model of behaviour reference §2.7 (Q07)."""

from __future__ import annotations

from tests.chance import scaled, seeded
from tests.session.network import Network, get, query_spec, serve
from zenlake.session.incoming_query import IncomingQuery
from zenlake.testing.simulation.items import Ok
from zenlake.wire import ConsolidationMode, Del, Put, Timestamp, ZenohId

CASES = scaled(2_000, 20_000)
Reply = tuple[str, int, int]  # key, time (0: none), number


def model(mode: ConsolidationMode, replies: list[Reply]) -> list[Reply]:
    """Written from the table, without optimization."""
    if mode == ConsolidationMode.NONE:
        return replies
    newest: dict[str, Reply] = {}
    delivered = []
    for reply in replies:
        before = newest.get(reply[0])
        if before is None or reply[1] >= before[1]:
            newest[reply[0]] = reply
            delivered.append(reply)
    return delivered if mode == ConsolidationMode.MONOTONIC else list(newest.values())


def ask(mode: ConsolidationMode, parameters: str, replies: list[Reply]) -> list[Reply]:
    network = Network()
    core = network.add().core
    queryable = serve(core, "**")
    answers = get(core, "**", query_spec(consolidation=mode), parameters)
    incoming: IncomingQuery = queryable.queries[0].incoming
    for key, time, number in replies:
        stamp = Timestamp(time, ZenohId.from_int(1)) if time else None
        attachment = str(number).encode()
        deleted = number % 5 == 0
        body = Del(stamp, None, attachment) if deleted else Put(b"", stamp, attachment=attachment)
        core.reply(incoming, 1, key, body, None, 0.0)
    core.drop_query(incoming, 0.0)
    assert answers.is_closed
    found = []
    for item in answers.items:
        assert isinstance(item, Ok)
        stamp = item.body.timestamp
        found.append((item.key, stamp.time if stamp else 0, int(item.body.attachment or b"")))
    return found


def test_equals_the_model() -> None:
    chance = seeded()
    for _ in range(CASES):
        mode = chance.choice(list(ConsolidationMode))
        parameters = chance.choice(["", "x=1", "_time=[..]", "a;_time", "_timer=1"])
        times = chance.choice([(0,), (0, 1), (5, 3, 1), (0, 7, 7, 9, 1 << 62)])
        replies = [
            (chance.choice("ab"), chance.choice(times), number)
            for number in range(chance.randrange(8))
        ]
        resolved = mode
        if mode == ConsolidationMode.AUTO:
            ranged = parameters in ("_time=[..]", "a;_time")
            resolved = ConsolidationMode.NONE if ranged else ConsolidationMode.LATEST
        found = ask(mode, parameters, replies)
        expected = model(resolved, replies)
        if resolved == ConsolidationMode.LATEST:
            found, expected = sorted(found), sorted(expected)
        assert found == expected, (mode, parameters, replies)


def test_modes_deliver_as_in_the_example_of_the_reference() -> None:
    """Replies new, old, (none), mid, same-as-new."""
    replies = [("k", time, number) for number, time in enumerate((9, 1, 0, 5, 9))]
    numbers = {
        mode: [number for _, _, number in ask(mode, "", replies)] for mode in ConsolidationMode
    }
    assert numbers[ConsolidationMode.NONE] == [0, 1, 2, 3, 4]
    assert numbers[ConsolidationMode.MONOTONIC] == [0, 4]
    assert numbers[ConsolidationMode.LATEST] == numbers[ConsolidationMode.AUTO] == [4]
