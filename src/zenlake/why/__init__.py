"""Why: what a capture says about what failed, in words with packet numbers.

    records         the facts that stories are made of
    from_capture    fills them from a capture (from_lives: its timelines)
    from_lake       fills them from the tables of a lake (lake_queries: what it asks)
    collector       keeps what is asked for, within limits
    journeys        one query over all its hops
    network         the evidence, arranged for questions
    query_story     of a query: query_steps its steps, query_failures what went wrong, query_ends
    publication_story, waiting_story, token_story, reconnect_story, link_story
                    of the other subjects
    session_story, router_story
                    of sessions that were refused or lost, and routers that died; dependents what
                    went with them
    absence, disjoint, delivery, forwarding
                    why nobody was there, keys do not match, a reply or publication was dropped
    undelivered     publications for which nobody was there any more
    origins, gone   from router to router, to who declared something first, or gave it up
    hidden_links    what shows that a router has links that are not in the capture
    stories         all of it, the worst first

One engine, two readers: the same capture gives the same stories from its file and from a lake.
"""

from zenlake.why.records import Evidence
from zenlake.why.stories import Report, report
from zenlake.why.story import Story
from zenlake.why.wanted import Wanted, wanted

__all__ = ["Evidence", "Report", "Story", "Wanted", "report", "wanted"]
