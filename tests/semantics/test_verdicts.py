"""Verdicts: one list, with which every other list agrees or from which it is generated."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pytest

import zenlake.report
from zenlake.lake.derive.steps import verdicts as steps
from zenlake.lake.measures import OUTCOME
from zenlake.semantics.causes import OWN_QUERYABLE
from zenlake.semantics.verdicts import INSIDE, OUTCOMES, SEVERITIES, VERDICTS

SCRIPTS = sorted((Path(zenlake.report.__file__).parent / "assets").glob("[!e]*.js"))
FACTS = {
    "late": 0,
    "replies": 0,
    "errors": 0,
    "timeouts": 0,
    "final_ns": None,
    "deadline_ns": 100,
    "end_ns": 50,
    "closed_ns": None,
    "is_number_used_again": False,
}
EXAMPLES = [
    ("reply_after_final", {"late": 1, "replies": 1, "final_ns": 500}),
    ("timeout", {"final_ns": 500, "replies": 1}),
    ("timeout", {"end_ns": 500}),
    ("timeout", {"final_ns": 10, "errors": 1, "timeouts": 1}),
    ("answered", {"replies": 1, "errors": 1, "closed_ns": 20}),
    ("answered", {"replies": 1, "errors": 1, "timeouts": 1, "final_ns": 10}),
    ("error", {"errors": 2, "timeouts": 1, "final_ns": 10}),
    ("empty", {"final_ns": 10, "closed_ns": 20}),
    ("interrupted", {"closed_ns": 50}),
    ("open", {}),
    ("open", {"deadline_ns": None}),
    ("no_final", {"is_number_used_again": True}),
    ("no_final", {"is_number_used_again": True, "closed_ns": 50}),
]


def test_the_names_and_their_order_are_public() -> None:
    assert list(VERDICTS) == [
        "reply_after_final",
        "timeout",
        "answered",
        "error",
        "empty",
        "interrupted",
        "open",
        "no_final",
    ]


@pytest.mark.parametrize("name", ["CONDITIONS", "REASONS"])
def test_sql_knows_every_verdict(name: str) -> None:
    difference = vars(steps)[name].keys() ^ VERDICTS.keys()
    assert not difference, f"lake/derive/steps/verdicts.py, {name}: {difference}"


def test_every_verdict_has_an_example() -> None:
    assert {verdict for verdict, _ in EXAMPLES} == VERDICTS.keys()


@pytest.mark.parametrize(("verdict", "facts"), EXAMPLES, ids=str)
def test_sql_chooses_the_first_verdict_that_holds(verdict: str, facts: dict[str, object]) -> None:
    columns = ", ".join(f"${name} AS {name}" for name in FACTS)
    query = f"SELECT {steps.VERDICT} FROM (SELECT {columns})"
    assert duckdb.connect().execute(query, FACTS | facts).fetchall() == [(verdict,)]


def test_outcomes_of_a_report_are_the_verdicts_and_inside() -> None:
    assert OUTCOMES.keys() == VERDICTS.keys() | {INSIDE}
    ranks = [SEVERITIES.index(outcome.severity) for outcome in OUTCOMES.values()]
    assert ranks == sorted(ranks)
    query = f"SELECT {OUTCOME} FROM (SELECT $cause AS cause, 'empty' AS verdict) q"
    for cause, outcome in ((OWN_QUERYABLE, INSIDE), ("no_reply", "empty"), (None, "empty")):
        assert duckdb.connect().execute(query, {"cause": cause}).fetchall() == [(outcome,)]


def test_failed_outcomes_are_findings() -> None:
    for name, outcome in OUTCOMES.items():
        assert outcome.finding is not None or not outcome.failed, name


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_no_script_of_the_page_names_a_verdict(script: Path) -> None:
    """Python writes the list into the page: a new verdict needs no change of a script."""
    names = "|".join(OUTCOMES)
    text = script.read_text("utf-8")
    assert not re.findall(rf"[!=]= '(?:{names})'|^\s+(?:{names}): '", text, re.MULTILINE)
