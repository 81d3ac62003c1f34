"""The exact reader: every packet through `zenlake.trace`, message by message, to rows.

Takes the steps of a trace; gives Arrow tables. It reads everything; the fast reader uses its rows
for handshakes, sessions and violations.
"""
