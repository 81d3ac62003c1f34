"""Assemble: packets to connections, to batches of bytes.

Takes arrays of packets (`scan`); gives batches of regular pairs, and the packets of the others.
"""
