"""Writes the codec from the definitions: `python -m zenlake.wire.generate`, or `make generate`."""
