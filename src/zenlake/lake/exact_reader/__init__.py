"""The exact reader: every packet through `zenlake.trace`, message by message, to rows.

Input: the steps of a trace. Output: Arrow tables. The exact reader reads everything; the fast
reader uses its rows for handshakes, sessions and violations.
"""
