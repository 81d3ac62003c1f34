"""Liveliness: tokens, a subscriber with history, and a query."""

import sys
import time

import zenoh

ENDPOINT = f"tcp/127.0.0.1:{sys.argv[1]}"


def node(role: str) -> zenoh.Session:
    config = zenoh.Config()
    config.insert_json5(f"{role}/endpoints", f'["{ENDPOINT}"]')
    config.insert_json5("scouting/multicast/enabled", "false")
    return zenoh.open(config)


def report(sample: zenoh.Sample) -> None:
    word = "New alive token" if sample.kind == zenoh.SampleKind.PUT else "Dropped token"
    print(f">> {word} ('{sample.key_expr}')", flush=True)


watcher = node("listen")
member = node("connect")
token = member.liveliness().declare_token("group/zenoh-py/1")
time.sleep(0.5)
subscriber = watcher.liveliness().declare_subscriber("group/**", report, history=True)
time.sleep(0.3)
second = member.liveliness().declare_token("group/zenoh-py/2")
time.sleep(0.3)
for reply in sorted(
    watcher.liveliness().get("group/**", timeout=2.0), key=lambda one: str(one.ok.key_expr)
):
    print("alive:", reply.ok.key_expr)
token.undeclare()
time.sleep(0.3)
member.close()
time.sleep(0.5)
print("left:", list(watcher.liveliness().get("group/**")))
subscriber.undeclare()
watcher.close()
print("closed:", watcher.is_closed(), member.is_closed())
