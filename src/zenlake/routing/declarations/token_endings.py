"""`TokenEndings`: the faces to which the end of a token must not be announced.

A face with an interest in future tokens gets the end of a token that was never announced to it
(§3.6). So the announcements do not show whether a face needs the end. It must not get it:

- If it got it already. Several holders may end at the same time, each with a job that announces
  the end, and a holder whose link is lost counts as gone before its removal begins. The first job
  that finds no holder left announces the end to a face; the other jobs must not repeat it.
- If the token began after the interest of the face, and ended before the job that announces the
  beginning reached the face: for the face the token never existed.

An entry lasts until the last job for its token ends; then every token that began after an interest
has been announced to it. Tokens that a gateway declares in answer to an interest may have existed
long before, so their jobs do not count.
"""

from __future__ import annotations

from zenlake.routing.face import Face


class TokenEnding:
    __slots__ = ("believe_gone", "job_count", "last_number")

    def __init__(self, last_number: int) -> None:
        self.job_count = 0
        """Jobs that announce the beginning or the end of a holder."""

        self.last_number = last_number
        """The last interest that existed when the token began; 0 if the token is older."""

        self.believe_gone: set[Face] = set()
        """Faces that got the end and no beginning since, or that never got the beginning."""


class TokenEndings:
    """All entries, by key: a token may begin again while jobs still announce its end."""

    __slots__ = ("_by_key",)

    def __init__(self) -> None:
        self._by_key: dict[str, TokenEnding] = {}

    def __len__(self) -> int:
        return len(self._by_key)

    def begin_token(self, key: str, last_number: int) -> None:
        """The first holder of a token appears, and a job will announce it.

        If jobs still announce an earlier end, faces may have known the token before.
        """
        if key not in self._by_key:
            self._by_key[key] = TokenEnding(last_number)

    def begin_job(self, key: str) -> None:
        """A job starts to announce that a holder of a token appeared or ended."""
        self._get_or_add(key).job_count += 1

    def end_job(self, key: str) -> None:
        """The job is over."""
        self._by_key[key].job_count -= 1

    def discard_if_over(self, key: str) -> None:
        """Remove the entry unless a job is running; the caller knows that none will start."""
        ending = self._by_key.get(key)
        if ending is not None and ending.job_count <= 0:
            del self._by_key[key]

    def last_number_before(self, key: str) -> int:
        """The last interest that must get the beginning of a token, 0 if all have got it."""
        ending = self._by_key.get(key)
        return 0 if ending is None else ending.last_number

    def add(self, key: str, face: Face) -> None:
        """A face got the end of a token, or never got its beginning."""
        self._get_or_add(key).believe_gone.add(face)

    def discard(self, key: str, face: Face) -> None:
        """A face got the beginning of a token."""
        ending = self._by_key.get(key)
        if ending is not None:
            ending.believe_gone.discard(face)

    def has(self, key: str, face: Face) -> bool:
        """Whether a face must not get the end of a token."""
        ending = self._by_key.get(key)
        return ending is not None and face in ending.believe_gone

    def _get_or_add(self, key: str) -> TokenEnding:
        ending = self._by_key.get(key)
        if ending is None:
            ending = self._by_key[key] = TokenEnding(0)
        return ending
