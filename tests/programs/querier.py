"""A declared querier, targets and consolidation."""

import sys
import time

import zenoh

ENDPOINT = f"tcp/127.0.0.1:{sys.argv[1]}"


def node(role: str) -> zenoh.Session:
    text = f"""{{
        mode: "peer",  // JSON5, so this is allowed
        {role}: {{ endpoints: ["{ENDPOINT}"] }},
        scouting: {{ multicast: {{ enabled: false }} }},
    }}"""
    return zenoh.open(zenoh.Config.from_json5(text))


with node("listen") as server, node("connect") as asker:
    queryable = server.declare_queryable("sensor/temperature")
    time.sleep(0.5)
    querier = asker.declare_querier(
        "sensor/temperature",
        target=zenoh.QueryTarget.BEST_MATCHING,
        consolidation=zenoh.ConsolidationMode.NONE,
        timeout=5.0,
    )
    for number in range(3):
        replies = querier.get(parameters=f"round={number}", payload=str(number))
        with queryable.recv() as query:
            print("asked:", query.key_expr, query.parameters, query.payload.to_string())
            for value in (20, 21, 22):
                query.reply("sensor/temperature", f"{value}.{number}")
        print("answered:", [reply.ok.payload.to_string() for reply in replies])
    replies = asker.get("sensor/temperature", consolidation=zenoh.ConsolidationMode.LATEST)
    query = queryable.recv()
    for value in (1, 2, 3):
        query.reply(query.key_expr, str(value))
    query.drop()
    print("latest:", [reply.ok.payload.to_string() for reply in replies])
    querier.undeclare()
    queryable.undeclare()
    try:
        querier.get()
    except zenoh.ZError as error:
        print("ZError:", error)
