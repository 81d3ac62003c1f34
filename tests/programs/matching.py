"""A publisher that knows whether it has subscribers."""

import sys
import time

import zenoh

ENDPOINT = f"tcp/127.0.0.1:{sys.argv[1]}"


def node(role: str) -> zenoh.Session:
    config = zenoh.Config()
    config.insert_json5(f"{role}/endpoints", f'["{ENDPOINT}"]')
    config.insert_json5("scouting/multicast/enabled", "false")
    return zenoh.open(config)


def changed(status: zenoh.MatchingStatus) -> None:
    print("matching:", status.matching, flush=True)


with node("listen") as one, node("connect") as other:
    publisher = one.declare_publisher("demo/matching")
    publisher.declare_matching_listener(changed)
    time.sleep(0.3)
    print("at first:", publisher.matching_status.matching)
    for key in ("elsewhere/**", "demo/*"):
        subscriber = other.declare_subscriber(key)
        time.sleep(0.3)
        print(key, publisher.matching_status.matching)
        subscriber.undeclare()
        time.sleep(0.3)
    own = one.declare_subscriber("demo/**")
    time.sleep(0.3)
    print("own:", publisher.matching_status.matching)
    publisher.put("heard by myself")
    print(own.recv().payload.to_string())
