"""Rules decide by the key of a message whether and how it is recorded."""

from __future__ import annotations

import pytest

from zenlake.errors import LocalError
from zenlake.recording.redaction_rules import DROPPED, EXCLUDED, FREE, PARTLY, RedactionRules


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("secret/a", EXCLUDED),
        ("secret", EXCLUDED),
        ("secret/*/b", EXCLUDED),
        ("**", PARTLY),
        ("*/a", PARTLY),
        ("public/a", FREE),
        ("camera/7", DROPPED),
        ("camera/**", DROPPED),
        ("secret/a/@adv/pub/1", EXCLUDED),
        ("@/1f/router/subscriber/secret/a", EXCLUDED),
        ("@/1f/router/subscriber/public/a", FREE),
        ("a//b", EXCLUDED),
        ("", EXCLUDED),
        ("x" * 5000, EXCLUDED),
    ],
)
def test_verdict_on_a_key(text: str, verdict: int) -> None:
    rules = RedactionRules(["secret/**"], ["camera/*"])
    assert rules.verdict(text) == verdict
    assert rules.verdict(text) == verdict  # from the cache


def test_verdicts_of_many_keys_stay_right_when_the_cache_is_full() -> None:
    rules = RedactionRules(["secret/**"])
    for number in range(40_000):
        assert rules.verdict(f"public/{number}") == FREE
    assert rules.verdict("secret/1") == EXCLUDED


def test_rule_must_be_a_key_expression() -> None:
    with pytest.raises(LocalError, match="a redaction rule needs a key expression"):
        RedactionRules(["a//b"])


@pytest.mark.parametrize("prefix", ["secret", "secret/hun", "secret/hunter2", "sec", "*", "s/"])
def test_prefix_may_begin_an_excluded_key(prefix: str) -> None:
    assert RedactionRules(["secret/*/pose"]).may_begin_excluded(prefix)


@pytest.mark.parametrize("prefix", ["public", "public/secret", "secrets"])
def test_prefix_cannot_begin_an_excluded_key(prefix: str) -> None:
    assert not RedactionRules(["secret/*/pose"]).may_begin_excluded(prefix)
