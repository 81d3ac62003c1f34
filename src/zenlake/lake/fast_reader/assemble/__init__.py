"""Assemble: packets to connections, to batches of bytes."""
