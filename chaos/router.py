"""A program: a router, of zenlake or of eclipse-zenoh."""

from __future__ import annotations

import json
import os
import sys

from chaos.programs import answer_commands, open_session

if __name__ == "__main__":
    zenoh, session = open_session(sys.argv[2], json.loads(sys.argv[1]))
    answer_commands({"zid": lambda: str(session.zid())})
    os._exit(0)
