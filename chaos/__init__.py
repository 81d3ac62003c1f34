"""Chaos: a network of routers under load while they are killed, paused and cut off at random.

run         the command: `python -m chaos.run`, `make chaos`
network     the routers, the links between them, and what is done to both
proxy       a link that can be cut or stalled
client      a program: publishes, subscribes, asks, answers; its counts
visitor     a program: declares many things and is killed
asker       a client on a bare socket that sees every RESPONSE_FINAL
processes   programs that answer commands
verdict     what must hold at the end
"""
