"""Why: explains what failed in a capture, in sentences with packet numbers.

    records         the facts from which stories are made
    from_capture    reads them from a capture (from_timelines: its timelines)
    from_lake       reads them from the tables of a lake (lake_queries: its SQL)
    collector       keeps the records that are asked for, within limits
    group_memberships  members of multicast groups
    query_trees     one query over all its hops
    network         the evidence, indexed by node, key and session
    query_story     queries; query_steps: their steps; query_failures, query_ends: how they ended
    publication_story, waiting_story, token_story, reconnect_story, link_story, group_story
                    the other subjects
    session_story, router_story
                    sessions that were refused or lost, and routers that died; dependents: the
                    declarations and queries that ended with them
    absence, disjoint, delivery, forwarding
                    why there was no receiver, keys do not match, a reply or publication was dropped
    undelivered     publications after the last subscriber had gone
    declaration_end the node that undeclared something first, followed from router to router
    hidden_links    evidence that a router has links that are not in the capture
    stories         all stories of a capture, the worst first

One engine, two readers: the same capture gives the same stories from its file and from a lake.
"""

from zenlake.why.records import Evidence
from zenlake.why.scope import Scope, parse_scope
from zenlake.why.stories import CaptureStories, report
from zenlake.why.story import Story

__all__ = ["CaptureStories", "Evidence", "Scope", "Story", "parse_scope", "report"]
