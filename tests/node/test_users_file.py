"""The file of users and passwords."""

from __future__ import annotations

from pathlib import Path

import pytest

from zenlake.errors import LocalError
from zenlake.node.users_file import read_users


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "users"
    path.touch(0o600)
    return path


def test_lines_of_user_and_password(path: Path) -> None:
    path.write_text("one:first\n\n two : with:colon \r\n")
    assert read_users(str(path)) == {"one": "first", "two": "with:colon"}


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("", "names no user: nobody could connect"),
        ("\n \n", "names no user: nobody could connect"),
        ("a:hunter1\nhunter2\n", "line 2: expected user:password"),
        ("a:hunter1\n:hunter2\n", "line 2: expected user:password"),
        ("a:hunter1\nb: \n", "line 2: expected user:password"),
        ("a:hunter1\n\na:hunter2\n", "line 3: user 'a' stands on line 1 already"),
    ],
)
def test_invalid_files_are_refused(path: Path, text: str, cause: str) -> None:
    path.write_text(text)
    with pytest.raises(LocalError, match=cause) as caught:
        read_users(str(path))
    assert str(path) in str(caught.value)
    assert "hunter" not in str(caught.value)


def test_files_that_cannot_be_read_are_refused(path: Path, tmp_path: Path) -> None:
    path.write_bytes(b"a:\xff\n")
    for bad in (path, tmp_path, tmp_path / "missing"):
        with pytest.raises(LocalError, match="dictionary_file"):
            read_users(str(bad))


@pytest.mark.parametrize(
    ("mode", "is_warned_of"), [(0o600, False), (0o400, False), (0o640, True), (0o604, True)]
)
def test_a_file_that_others_can_read_is_a_warning(
    path: Path, mode: int, is_warned_of: bool, caplog: pytest.LogCaptureFixture
) -> None:
    path.write_text("one:hunter1\n")
    path.chmod(mode)
    read_users(str(path))
    texts = [record.getMessage() for record in caplog.records]
    assert len(texts) == is_warned_of
    for text in texts:
        assert str(path) in text
        assert f"{mode:04o}" in text
        assert "hunter" not in text
