"""Scan: records of a capture file to arrays of packets.

Input: bytes of a local file or of a store, a window at a time. Output: `Packets`.
"""
