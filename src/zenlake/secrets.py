"""The settings that are secret, and texts for users that hide them.

Secrets are passwords and private keys. Paths of files that hold them are not secret.
"""

from __future__ import annotations

import re
from typing import Final

HIDDEN: Final = "***"
_NAME: Final = (
    r"password|passphrase|secret|token"
    r"|private_key_pem|(?:\w+_)?private_key_(?:base64|raw)"
)
_SECRET_NAME: Final = re.compile(_NAME, re.IGNORECASE)
# `#name=value;name=value` of an endpoint.
_SECRET_OPTION: Final = re.compile(rf"([#;](?:{_NAME})=)[^;]*", re.IGNORECASE)


def is_secret(name: str) -> bool:
    """Whether a setting of this name, the last part of its path, holds a secret."""
    return _SECRET_NAME.fullmatch(name) is not None


def without_secrets(value: object) -> object:
    """The same JSON value with secrets hidden, in objects by name, in endpoints by option."""
    if isinstance(value, dict):
        return {
            name: HIDDEN if is_secret(str(name)) and member is not None else without_secrets(member)
            for name, member in value.items()
        }
    if isinstance(value, list):
        return [without_secrets(member) for member in value]
    return hide_options(value) if isinstance(value, str) else value


def hide_options(text: str) -> str:
    """A text with the secret options of the endpoints in it hidden."""
    return _SECRET_OPTION.sub(rf"\g<1>{HIDDEN}", text) if "#" in text else text
