"""Handlers: callbacks, queues, rings."""

import time

import zenoh
from zenoh.handlers import Callback, DefaultHandler, FifoChannel, RingChannel

config = zenoh.Config()
config.insert_json5("scouting/multicast/enabled", "false")
config.insert_json5("listen/endpoints", "[]")
session = zenoh.open(config)

fifo = session.declare_subscriber("demo/a", FifoChannel(100))
ring = session.declare_subscriber("demo/a", RingChannel(3))
plain = session.declare_subscriber("demo/a", DefaultHandler())
seen = []
called = session.declare_subscriber(
    "demo/a",
    Callback(lambda sample: seen.append(sample.payload.to_string()), lambda: seen.append("end")),
)
direct = []
session.declare_subscriber(
    "demo/a", Callback(lambda sample: direct.append(sample.payload.to_string()), indirect=False)
)
for number in range(10):
    session.put("demo/a", str(number))
print("direct:", direct)
time.sleep(0.2)
print("ring:", [ring.recv().payload.to_string() for _ in range(3)], ring.try_recv())
print("fifo:", fifo.recv().payload.to_string(), fifo.try_recv().payload.to_string())
print("plain:", plain.try_recv().payload.to_string())
called.undeclare()
time.sleep(0.2)
print("called:", seen)
fifo.undeclare()
try:
    fifo.recv()
except zenoh.ZError as error:
    print("ZError:", error)
session.close()
print("iterated:", [sample.payload.to_string() for sample in plain.handler])
for action in (lambda: session.put("demo/a", "x"), lambda: session.declare_subscriber("demo/b")):
    try:
        action()
    except zenoh.ZError as error:
        print("ZError:", error)
session.close()
