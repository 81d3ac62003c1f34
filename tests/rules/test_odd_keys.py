"""Keys of peers that are no key expressions cost their message, and nothing else."""

from __future__ import annotations

from pathlib import Path

from tests.rules.captures import findings
from tests.rules.odd_keys import ODD_KEYS, odd_keys


def test_invalid_keys_do_not_end_the_check(tmp_path: Path) -> None:
    """An answer on `a/` to an interest in `a/*` ended the command with a traceback."""
    found = {(one.rule.id, one.message) for one in findings(odd_keys(tmp_path / "odd.pcapng"))}
    texts = [text for rule, text in found if rule in ("key-invalid", "key-not-canonical")]
    for key in ("a/", "a//b", "a$b", "**a", "a/**/**"):
        assert key in ODD_KEYS
        assert any(repr(key) in text for text in texts), key
