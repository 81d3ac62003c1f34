"""Stories as lines of text, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import Any, Final, TextIO

from zenlake.cli.output import painter, safe
from zenlake.semantics.causes import CAUSES, WELL
from zenlake.semantics.citations import cited_text
from zenlake.why import CaptureStories, Scope, Story
from zenlake.why.formatting import counted, listed, packets_text

_WIDTH: Final = 96
_NAMES: Final = {
    "query": ("query", "queries"),
    "publication": ("published key", "published keys"),
    "liveliness": ("liveliness query", "liveliness queries"),
}
_ENCRYPTED: Final = "encrypted"


class ReportText:
    """One report as text or as JSON."""

    def __init__(self, made: CaptureStories, scope: Scope, stream: TextIO) -> None:
        self._report = made
        self._scope = scope
        self._paint = painter(stream)
        self._first_ns = made.evidence.first_ns

    def lines(self, stories_max: int, is_brief: bool = False) -> Iterator[str]:
        """The lines of a report. With `is_brief` a capture without failures has one line."""
        stories = self._report.stories
        if is_brief and not stories:
            yield safe(f"{self._report.evidence.capture}: nothing failed, as far as it shows")
            return
        if self._scope.query is not None and len(stories) > 1:
            yield from self._candidates()
            return
        if not stories and self._report.counts:
            yield self._paint("Nothing failed, as far as this capture shows.", "bold")
            yield ""
        for story in stories[:stories_max]:
            yield from self._story(story)
            yield ""
        if len(stories) > stories_max:
            left = len(stories) - stories_max
            more = counted(left, "further story", "further stories")
            yield f"{more} not shown (-n {len(stories)} shows all)."
        yield from self._summary()
        if is_brief:
            yield ""

    def _candidates(self) -> Iterator[str]:
        """Queries with the same number: one line each, with the name for --query."""
        stories = self._report.stories
        yield f"{len(stories)} queries have the number {self._scope.query}. Name one of them:"
        for story in stories:
            yield ""
            name = f"{story.session}/{story.request_id}"
            if self._scope.query == name and story.trace_id is not None:
                name = str(story.trace_id)  # both sides of the session count from 1
            yield from _wrapped(safe(f"--query {name}"), "  ", "  ")
            yield from _wrapped(safe(story.headline), "    ", "    ")

    def _story(self, story: Story) -> Iterator[str]:
        style = "error" if story.failed else "notice" if story.cause not in WELL else "bold"
        for line in _wrapped(safe(story.headline), "", ""):
            yield self._paint(line, style)
        width = max((len(str(step.at.packet or "")) for step in story.steps), default=1)
        width = max(width, len("packet"))
        if story.steps:
            yield self._paint(f"  {'time':>9}    {'packet':>{width}}", "dim")
        for step in story.ordered_steps():
            seconds = (step.at.time_ns - self._first_ns) / 1e9
            packet = "" if step.at.packet is None else str(step.at.packet)
            place = f"  {seconds:>9.3f} s  {packet:>{width}}  "
            yield from _wrapped(safe(step.text), place, " " * len(place))
        if story.count > 1:
            yield from _wrapped(safe(self._repeated(story)), "  ", "  ")
        for advice in story.advice:
            yield from _wrapped(safe(advice), "  try: ", "       ")
        if story.subject == "query":
            name = f"  cause: {story.cause}; --query {story.session}/{story.request_id}"
        else:
            name = f"  cause: {story.cause}"
        yield self._paint(safe(name), "dim")
        if page := CAUSES[story.cause].page:
            for line in _wrapped(cited_text(page), "  see ", "      "):
                yield self._paint(line, "dim")

    def _repeated(self, story: Story) -> str:
        last = story.last or story.at
        seconds = (last.time_ns - self._first_ns) / 1e9
        more = story.count - 1
        packets = packets_text([at.packet for at in story.repeated if at.packet], more)
        return (
            f"{counted(more, 'further story has', 'further stories have')} the same cause, node "
            f"and key: {packets}; the last at {seconds:,.3f} s"
        )

    def _summary(self) -> Iterator[str]:
        evidence = self._report.evidence
        seconds = (evidence.last_ns - evidence.first_ns) / 1e9
        packets = counted(evidence.packets, "packet")
        yield safe(f"{evidence.capture}: {packets} in {seconds:,.3f} s")
        for text in self._remarks():
            yield from _wrapped(safe(text), "  ", "  ")

    def _remarks(self) -> Iterator[str]:
        evidence = self._report.evidence
        for subject, counts in self._report.counts.items():
            total = counts.total()
            causes = listed([f"{count:,} {cause}" for cause, count in counts.most_common()])
            one, many = _NAMES.get(subject, (subject, f"{subject}s"))
            if len(counts) == 1 and counts.keys() <= WELL:
                [cause] = counts
                yield f"all {total:,} {many} {cause}" if total > 1 else f"the only {one} {cause}"
            else:
                yield f"{counted(total, one, many)}: {causes}"
        if not self._report.counts:
            what = "about what was asked for " if self._scope != Scope() else ""
            yield f"nothing {what}in this capture"
            if self._scope.key is not None:
                yield (
                    "what stays within a node (locality SESSION_LOCAL, publications that no "
                    "subscriber wants) is never on a link"
                )
        if evidence.undecoded.get(_ENCRYPTED):
            size = counted(evidence.undecoded[_ENCRYPTED], "byte")
            yield f"{size} are encrypted (TLS or QUIC): they cannot be decoded"
        partial = sum(one.outcome == "partial" for one in evidence.sessions.values())
        if partial:
            yield (
                f"{counted(partial, 'session')} began before the capture: their nodes have no "
                "names, keys behind earlier aliases and earlier declarations are unknown"
            )
        for what, count in evidence.left_out.items():
            yield f"{count:,} {what} were not examined, there are too many: narrow it with --key"
        if evidence.damage is not None:
            yield evidence.damage

    def json_values(self, stories_max: int) -> Iterator[dict[str, Any]]:
        evidence = self._report.evidence
        for story in self._report.stories[:stories_max]:
            yield {"capture": evidence.capture, **story.as_json(evidence.roles)}
        yield {
            "capture": evidence.capture,
            "subject": "summary",
            "packets": evidence.packets,
            "first_ns": evidence.first_ns,
            "last_ns": evidence.last_ns,
            "stories": len(self._report.stories),
            "omitted": max(len(self._report.stories) - stories_max, 0),
            "failed": self._report.failed,
            "counts": {subject: dict(counts) for subject, counts in self._report.counts.items()},
            "undecoded": evidence.undecoded,
            "left_out": evidence.left_out,
            "damage": evidence.damage,
        }


def _wrapped(text: str, first: str, rest: str) -> list[str]:
    return wrap(
        text,
        _WIDTH,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=True,
        break_on_hyphens=False,
    ) or [first.rstrip()]
