"""Names of types as DDS writes them."""

from __future__ import annotations


def dds_type(ros_type: str) -> str:
    """The DDS name of `a/msg/B`; a name without a package is unchanged."""
    package, slash, last = ros_type.rpartition("/")
    return f"{package.replace('/', '::')}::dds_::{last}_" if slash else ros_type


def mangled(name: str, slash: str) -> str:
    """A name as one chunk of a key, without its slashes."""
    return name.replace("/", slash)
