"""Scan: records of a capture file to arrays of packets.

Takes bytes of a local file or of a store, a window at a time; gives `Packets`.
"""
