"""Captured traffic: from files to packets, and from packets to what they carried.

This package knows files, link layers, IP, TCP and UDP; it knows no Zenoh messages.
"""
