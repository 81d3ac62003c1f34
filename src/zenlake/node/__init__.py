"""The threaded shell: links, protocol and routing put together as one node."""

from zenlake.node.node import Node
from zenlake.node.settings import NodeSettings

__all__ = ["Node", "NodeSettings"]
