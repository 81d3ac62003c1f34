"""Publications on `config/**`: configuration changes at run time (behaviour reference §5).

Official nodes accept only keys under `plugins/`. zenlake has no plugins, so nothing can be changed;
the node logs why a publication has no effect.
"""

from __future__ import annotations

from zenlake.wire import Del, Push, Put


def refusal_of(message: Push, key: str, root: str, may_write: bool) -> str:
    """Why a publication for the configuration has no effect."""
    verb = "DELETE" if isinstance(message.body, Del) else "PUT"
    if not may_write:
        return f"{verb} on `{key}` is refused: adminspace/permissions/write is false"
    prefix = f"{root}/config/"
    if not key.startswith(prefix) or "*" in key:
        return f"{verb} on `{key}` is refused: it must name one key below `{prefix[:-1]}`"
    path = key[len(prefix) :]
    if not path.startswith("plugins/"):
        return (
            f"{verb} of the configuration key `{path}` is refused: only keys under `plugins/` "
            f"can be changed while the node runs"
        )
    if isinstance(message.body, Put) and not _is_text(message.body.payload):
        return f"{verb} of the configuration key `{path}` is refused: its value is not UTF-8"
    return f"{verb} of the configuration key `{path}` has no effect: zenlake has no plugins"


def _is_text(payload: bytes) -> bool:
    try:
        payload.decode()
    except UnicodeDecodeError:
        return False
    return True
