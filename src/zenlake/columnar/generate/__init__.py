"""Writes the kernels from the definitions: `python -m zenlake.columnar.generate`."""
