"""Two peers: one publishes in several ways, the other prints what arrives."""

import sys
import time

import zenoh

ENDPOINT = f"tcp/127.0.0.1:{sys.argv[1]}"


def peer(role: str) -> zenoh.Session:
    config = zenoh.Config()
    config.insert_json5("mode", '"peer"')
    config.insert_json5(f"{role}/endpoints", f'["{ENDPOINT}"]')
    config.insert_json5("scouting/multicast/enabled", "false")
    if role == "connect":
        config.insert_json5("listen/endpoints", "[]")
    return zenoh.open(config)


def listener(sample: zenoh.Sample) -> None:
    print(f">> {sample.kind} ('{sample.key_expr}': '{sample.payload.to_string()}')", flush=True)


with peer("listen") as receiver, peer("connect") as sender:
    receiver.declare_subscriber("demo/example/**", listener)
    time.sleep(0.5)
    publisher = sender.declare_publisher("demo/example/pub")
    for index in range(5):
        publisher.put(f"[{index:4d}] Pub from Python!")
    sender.put("demo/example/put", "Put from Python!", encoding=zenoh.Encoding.TEXT_PLAIN)
    sender.delete("demo/example/put")
    publisher.delete()
    time.sleep(0.5)
    publisher.undeclare()
    try:
        publisher.put("too late")
    except zenoh.ZError as error:
        print("ZError:", error)
