"""Errors and their messages."""

import zenoh

CASES = {
    "bad key": lambda session: session.put("a//b", "x"),
    "bad payload": lambda session: session.put("a/b", 5),
    "bad selector": lambda session: session.get("a/#"),
    "bad handler": lambda session: session.declare_subscriber("a/b", 7),
    "positional": lambda session: session.put("a/b", "x", "text/plain"),
    "unknown name": lambda session: session.put("a/b", "x", colour="red"),
    "bad config": lambda session: zenoh.Config().insert_json5("no/such/key", "1"),
    "bad json": lambda session: zenoh.Config().insert_json5("mode", "{"),
    "bad mode": lambda session: zenoh.Config().insert_json5("mode", '"boss"'),
    "nobody there": lambda session: zenoh.open(
        zenoh.Config.from_json5(
            '{mode: "client", connect: {endpoints: ["tcp/127.0.0.1:1"]}, '
            "scouting: {multicast: {enabled: false}}}"
        )
    ),
    "nowhere to go": lambda session: zenoh.open(
        zenoh.Config.from_json5('{mode: "client", scouting: {multicast: {enabled: false}}}')
    ),
    "not text": lambda session: zenoh.ZBytes(b"\xff").to_string(),
}
config = zenoh.Config()
config.insert_json5("scouting/multicast/enabled", "false")
config.insert_json5("listen/endpoints", "[]")
print(config.get_json("mode"), config.get_json("listen/endpoints"))
with zenoh.open(config) as session:
    for name, action in CASES.items():
        try:
            action(session)
            print(name, "passed")
        except (zenoh.ZError, TypeError, ValueError) as error:
            kinds = (zenoh.ZError, TypeError, ValueError)
            print(name, [isinstance(error, kind) for kind in kinds])
    queryable = session.declare_queryable("demo/q")
    replies = session.get("demo/q", timeout=1.0)
    query = queryable.recv()
    try:
        query.reply("elsewhere", "x")
    except zenoh.ZError:
        print("a reply elsewhere is refused")
    query.drop()
    query.drop()
    try:
        query.reply("demo/q", "x")
    except zenoh.ZError as error:
        print("ZError:", error)
    print(list(replies))
    publisher = session.declare_publisher("demo/p")
    session.undeclare(publisher)
    try:
        publisher.put("x")
    except zenoh.ZError as error:
        print("ZError:", error)
