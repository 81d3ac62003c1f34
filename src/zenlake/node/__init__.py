"""A node: links, protocol and routing, with threads and time."""

from zenlake.node.node import Node
from zenlake.node.settings import NodeSettings

__all__ = ["Node", "NodeSettings"]
