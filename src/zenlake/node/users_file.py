"""The file of users and passwords: one `user:password` a line (wire reference §10.2)."""

from __future__ import annotations

import logging
import os
import stat
from typing import Final

from zenlake.errors import LocalError

log = logging.getLogger("zenlake.config")

_KEY: Final = "transport/auth/usrpwd/dictionary_file"


def read_users(path: str) -> dict[str, str]:
    """Passwords by user. Errors name lines, never their content.

    A file without any user is refused: no client could connect, and deployed nodes would then
    admit all. A file that other users of the machine can read is a warning.
    """
    try:
        with open(path, encoding="utf-8") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            text = file.read()
    except UnicodeDecodeError:
        raise LocalError(f"{_KEY}: {path} is not UTF-8 text") from None
    except OSError as error:
        raise LocalError(f"{_KEY}: {error}") from error
    users = _parse(path, text)
    if os.name == "posix" and mode & 0o077:
        log.warning(
            "%s: %s has passwords and mode %04o: other users of this machine may use it; set 0600",
            _KEY,
            path,
            mode,
        )
    return users


def _parse(path: str, text: str) -> dict[str, str]:
    users: dict[str, str] = {}
    lines: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        user, _, password = (part.strip() for part in line.partition(":"))
        if not user or not password:
            raise LocalError(f"{_KEY}: {path}, line {number}: expected user:password")
        if user in users:
            cause = f"user {user!r} stands on line {lines[user]} already"
            raise LocalError(f"{_KEY}: {path}, line {number}: {cause}")
        users[user] = password
        lines[user] = number
    if not users:
        raise LocalError(f"{_KEY}: {path} names no user: nobody could connect")
    return users
