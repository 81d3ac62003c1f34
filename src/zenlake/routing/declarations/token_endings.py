"""`Endings`: who need not hear of the end of a token, while its holders come and go.

A face that asked for future tokens only hears of the end of a token although it was never told of
the token (§3.6), so what it was told does not show whether it must hear of the end. It must not:

- If it has heard of the end already. Several holders may go at the same time, each with a job in
  turns that tells of it, and a holder that is lost counts as gone before its removal begins. The
  first job that finds no holder left tells a face; the others must not tell it again.
- If the token began after the face had asked, and ended before the job came to the face that tells
  of the beginning: to the face it never was.

What is here ends with the last job; then a face was told of every token that began after it asked.
Tokens that a node above declares in answer to an interest may have been there long before, so their
jobs do not count.
"""

from __future__ import annotations

from zenlake.routing.face import Face


class Ending:
    __slots__ = ("believe_gone", "job_count", "last_number")

    def __init__(self, last_number: int) -> None:
        self.job_count = 0
        """Jobs that tell of the beginning or the end of a holder."""

        self.last_number = last_number
        """The last interest that was there when the token began; 0 if that is longer ago."""

        self.believe_gone: set[Face] = set()
        """Faces that have heard of the end, and of nothing since, or not yet of the beginning."""


class Endings:
    """By key: a token may be forgotten and declared anew while jobs tell of the old one."""

    __slots__ = ("_by_key",)

    def __init__(self) -> None:
        self._by_key: dict[str, Ending] = {}

    def __len__(self) -> int:
        return len(self._by_key)

    def begin_token(self, key: str, last_number: int) -> None:
        """A token begins, and nobody else holds it: a job is going to tell of it.

        If others tell of its end still, those faces may have known of it before.
        """
        if key not in self._by_key:
            self._by_key[key] = Ending(last_number)

    def begin_job(self, key: str) -> None:
        """A job is going to tell that a holder of a token began or ended to hold it."""
        self._get_or_add(key).job_count += 1

    def end_job(self, key: str) -> None:
        """The job is over."""
        self._by_key[key].job_count -= 1

    def discard_if_over(self, key: str) -> None:
        """Forget who was told, unless a job goes on; the caller knows that none will begin."""
        ending = self._by_key.get(key)
        if ending is not None and ending.job_count <= 0:
            del self._by_key[key]

    def last_number_before(self, key: str) -> int:
        """The last interest whose face is told of the beginning of a token, 0 if all were."""
        ending = self._by_key.get(key)
        return 0 if ending is None else ending.last_number

    def add(self, key: str, face: Face) -> None:
        """A face has heard that a token is gone, or has not heard that it had begun."""
        self._get_or_add(key).believe_gone.add(face)

    def discard(self, key: str, face: Face) -> None:
        """A face has heard that a token exists."""
        ending = self._by_key.get(key)
        if ending is not None:
            ending.believe_gone.discard(face)

    def has(self, key: str, face: Face) -> bool:
        """Whether a face need not hear that a token is gone."""
        ending = self._by_key.get(key)
        return ending is not None and face in ending.believe_gone

    def _get_or_add(self, key: str) -> Ending:
        ending = self._by_key.get(key)
        if ending is None:
            ending = self._by_key[key] = Ending(0)
        return ending
