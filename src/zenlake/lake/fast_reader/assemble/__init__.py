"""Assemble: packets to connections, to batches of bytes.

Input: arrays of packets (`scan`). Output: batches of regular pairs, and the packets of the others.
"""
