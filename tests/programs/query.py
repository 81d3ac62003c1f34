"""A queryable with every kind of reply, and a requester."""

import sys
import time

import zenoh

ENDPOINT = f"tcp/127.0.0.1:{sys.argv[1]}"


def node(role: str) -> zenoh.Session:
    config = zenoh.Config()
    config.insert_json5(f"{role}/endpoints", f'["{ENDPOINT}"]')
    config.insert_json5("scouting/multicast/enabled", "false")
    return zenoh.open(config)


def answer(query: zenoh.Query) -> None:
    with query:
        payload = "nothing" if query.payload is None else query.payload.to_string()
        print(f"[Queryable] '{query.selector}' with {payload}", flush=True)
        if "fail" in query.parameters:
            query.reply_err("it failed", encoding="text/plain")
            return
        for name in sorted(dict(query.parameters.__iter__())):
            query.reply(f"demo/value/{name}", query.parameters.get(name) or "")
        if query.key_expr.includes("demo/value/gone"):
            query.reply_del("demo/value/gone")


with node("listen") as server, node("connect") as asker:
    server.declare_queryable("demo/value/**", answer, complete=True)
    time.sleep(0.5)
    for selector in ("demo/value/*", "demo/value/*?a=1;b=2", "demo/value/*?fail"):
        for reply in sorted(
            asker.get(selector, payload="a question", target=zenoh.QueryTarget.ALL),
            key=lambda one: str(one.ok.key_expr) if one.ok else "",
        ):
            if reply.ok:
                sample = reply.ok
                print(">> Received", sample.kind, sample.key_expr, sample.payload.to_string())
            else:
                print(">> Received an error:", reply.err.payload.to_string(), reply.err.encoding)
    selector = zenoh.Selector("demo/value/c", {"c": "3"})
    print(selector, [str(reply.ok.key_expr) for reply in asker.get(selector) if reply.ok])
    print("nobody:", list(asker.get("demo/other")))
