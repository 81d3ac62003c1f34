"""Queries and replies, as calls and as messages, in one form."""

from __future__ import annotations

from typing import NamedTuple

from tests.trace.sidecar import CLOCK_SECONDS, Row, Sidecar, digest, digest_in, field, seconds
from zenlake.trace import MessageSeen
from zenlake.trace.timelines.exchange import Exchange

_TIMEOUT_MS = 10_000
# zenoh-pico numbers the modes differently: it writes the previous mode (see the captures' README).
_PICO_MODES = {"none": "auto", "monotonic": "none", "latest": "monotonic", "auto": "monotonic"}


class Asked(NamedTuple):
    """All attributes that a get can set."""

    key: str | None
    parameters: str
    target: str
    consolidation: str
    payload: str | None
    encoding: str | None
    attachment: str | None
    timeout_ms: int


class Answer(NamedTuple):
    """One reply; an error has no key. The last three are None if a sidecar lacks them."""

    kind: str
    key: str | None
    payload: str | None
    encoding: str | None
    attachment: str | None
    timestamp: str | None = None
    replier: tuple[str | None, int | None] | None = None
    qos: tuple[int, str, bool] | None = None


def is_pico(sidecar: Sidecar, node: str, version: str = "") -> bool:
    return any(
        row["node"] == node
        and row.get("implementation") == "zenoh-pico"
        and row["version"].startswith(version)
        for row in sidecar.nodes
    )


def asked_by(sidecar: Sidecar, get: Row) -> Asked:
    """The query as it must be on the wire: the node replaces defaults before it sends."""
    key, _, parameters = get.get("selector", "").partition("?")
    node = get["node"]
    target = sidecar.setting(get, "target") or "best_matching"
    mode = sidecar.setting(get, "consolidation") or "auto"
    timeout_ms = sidecar.setting(get, "timeout_ms") or _TIMEOUT_MS
    if is_pico(sidecar, node):
        target, mode = "best_matching", _PICO_MODES[mode]
        timeout_ms = _TIMEOUT_MS if is_pico(sidecar, node, "1.0.") else timeout_ms
    elif mode == "auto":
        mode = "none" if parameters.startswith("_time=") else "latest"
    payload = get.get("payload")
    encoding = get.get("encoding") or (None if payload is None else "zenoh/bytes")
    return Asked(
        get.get("key", key),
        get.get("parameters", parameters),
        target,
        mode,
        digest_in(payload),
        encoding,
        digest_in(get.get("attachment")),
        timeout_ms,
    )


def asked_in(request: MessageSeen) -> Asked:
    return Asked(
        request.key,
        field(request, "parameters") or "",
        field(request, "target"),
        field(request, "consolidation"),
        digest(field(request, "payload")),
        field(request, "encoding"),
        digest(field(request, "attachment")),
        field(request, "timeout_ms"),
    )


def exchange_of(sidecar: Sidecar, get: Row, found: list[Exchange]) -> Exchange:
    """The exchange of a get, by its attributes and time; it is removed from `found`."""
    wanted = asked_by(sidecar, get)
    for exchange in found:
        request = exchange.request
        if (
            request is not None
            and exchange.requester_zid == sidecar.zids[get["node"]]
            and asked_in(request) == wanted
            and get["started"] - CLOCK_SECONDS < seconds(request) < get["t"] + CLOCK_SECONDS
        ):
            found.remove(exchange)
            return exchange
    raise AssertionError(f"no REQUEST for {get}")


_KINDS = {
    "reply": "put",
    "reply_del": "delete",
    "del": "delete",
    "reply_err": "err",
    "RESPONSE/REPLY/PUT": "put",
    "RESPONSE/REPLY/DEL": "delete",
    "RESPONSE/ERR": "err",
}


def recorded_answer(reply: Row) -> Answer:
    """The answer that a get received, or that a queryable sent."""
    word: str = reply["kind"] if "kind" in reply else reply["op"]
    kind = _KINDS.get(word, word)
    has_payload = kind != "delete"
    answer = Answer(
        kind,
        reply["key"] if kind != "err" else None,
        digest_in(reply["payload"]) if has_payload else None,
        (reply.get("encoding") or "zenoh/bytes") if has_payload else None,
        digest_in(reply.get("attachment")),
    )
    if "replier" not in reply:
        return answer
    replier = reply["replier"] or {"zid": None, "eid": None}
    answer = answer._replace(replier=(replier["zid"], replier["eid"]))
    if kind == "err":
        return answer
    qos = reply["priority"], reply["congestion_control"], reply["express"]
    return answer._replace(timestamp=reply["timestamp"], qos=qos)


def answer_in(response: MessageSeen, like: Answer) -> Answer:
    """The answer in a message, with only the attributes that `like` has."""
    kind = _KINDS[response.kind]
    replier = field(response, "replier_zid"), field(response, "replier_eid")
    qos = tuple(field(response, name) for name in ("priority", "congestion", "express"))
    return Answer(
        kind,
        response.key if kind != "err" else None,
        digest(field(response, "payload")),
        field(response, "encoding"),
        digest(field(response, "attachment")),
        field(response, "timestamp") if like.qos is not None else None,
        replier if like.replier is not None else None,
        qos if like.qos is not None else None,
    )
