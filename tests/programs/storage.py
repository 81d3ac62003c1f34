"""A small storage: keeps publications, answers queries."""

import sys
import time

import zenoh

ENDPOINT = f"tcp/127.0.0.1:{sys.argv[1]}"
STORE: dict[str, zenoh.Sample] = {}


def node(role: str) -> zenoh.Session:
    config = zenoh.Config()
    config.insert_json5("mode", '"peer"')
    config.insert_json5(f"{role}/endpoints", f'["{ENDPOINT}"]')
    config.insert_json5("scouting/multicast/enabled", "false")
    return zenoh.open(config)


def listener(sample: zenoh.Sample) -> None:
    if sample.kind == zenoh.SampleKind.DELETE:
        STORE.pop(str(sample.key_expr), None)
    else:
        STORE[str(sample.key_expr)] = sample


def answer(query: zenoh.Query) -> None:
    with query:
        for key, sample in STORE.items():
            if query.key_expr.intersects(sample.key_expr):
                query.reply(
                    key, sample.payload, encoding=sample.encoding, attachment=sample.attachment
                )


with node("listen") as keeper, node("connect") as user:
    keeper.declare_subscriber("house/**", listener)
    keeper.declare_queryable("house/**", answer, complete=True)
    time.sleep(0.5)
    for room, degrees in (("kitchen", 21), ("bath", 23), ("cellar", 12)):
        user.put(
            f"house/{room}/temperature",
            str(degrees),
            encoding="text/plain",
            attachment=room.encode(),
            congestion_control=zenoh.CongestionControl.BLOCK,
        )
    user.delete("house/bath/temperature")
    time.sleep(0.5)
    found = [reply.ok for reply in user.get("house/*/temperature") if reply.ok]
    for sample in sorted(found, key=lambda one: str(one.key_expr)):
        print(
            sample.key_expr,
            sample.payload.to_string(),
            sample.encoding,
            sample.attachment.to_string(),
        )
    print([reply.ok.payload.to_string() for reply in user.get("house/cellar/temperature")])
