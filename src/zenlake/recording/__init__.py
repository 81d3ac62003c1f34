"""Recordings: the traffic of a node's links as folders of pcapng segments."""
