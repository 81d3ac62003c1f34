"""The exact reader: every packet through `zenlake.trace`, message by message, to rows."""
