"""`AdminSettings`: the section `adminspace` of the configuration (behaviour reference §6.2)."""

from __future__ import annotations


class AdminSettings:
    __slots__ = ("enabled", "metadata", "read", "write")

    def __init__(
        self,
        *,
        enabled: bool = False,
        read: bool = True,
        write: bool = False,
        metadata: object = None,
    ) -> None:
        self.enabled = enabled
        self.read = read
        """`adminspace/permissions/read`: whether queries are answered."""

        self.write = write
        """`adminspace/permissions/write`: whether publications on `config/**` are allowed."""

        self.metadata = metadata
        """Any JSON value, returned unchanged."""
