"""A program: a client that declares many things until it is killed, and must leave none behind."""

from __future__ import annotations

import json
import os
import sys

from chaos.programs import answer_commands, open_session

DECLARED = 20

if __name__ == "__main__":
    zenoh, session = open_session(sys.argv[2], json.loads(sys.argv[1]))
    name = sys.argv[3]
    kept = []
    for number in range(DECLARED):
        key = f"chaos/visitor/{name}/{number}"
        kept.append(session.declare_subscriber(f"{key}/**", lambda sample: None))
        kept.append(session.declare_queryable(key, lambda query: None))
        kept.append(session.liveliness().declare_token(key))
    # Queries that nobody answers are open when it is killed.
    asked = [session.get(f"chaos/visitor/*/{number}", timeout=5.0) for number in range(5)]
    answer_commands({"close": lambda: session.close()})
    os._exit(0)
