"""Scan: the records of a capture file as arrays of packets."""
