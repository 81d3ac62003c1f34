"""One application, as a client of its own node (sans-I/O).

    sink            where items for the user go
    settings        the configuration of a session
    namespace       the prefix that a session hides from its user
    port            how the parts below reach the node and the application
    locality        where messages may go to or come from: own session, network, both
    interests       interests of this session at its node
    subscribers, publications
                    samples in and out
    queryables, open_query, consolidation, queries
                    queries in and out
    liveliness      presence
    matching        matching status of publishers and queriers
    inbox           messages of the node for the session
    core            SessionCore, which puts them together

The session and its node's Dispatcher exchange messages as over a link that loses nothing: the
session sends what a client sends to its gateway, with whole keys, and gets what a gateway sends.
"""

from zenlake.session.core import SessionCore
from zenlake.session.locality import Locality
from zenlake.session.port import Factory
from zenlake.session.settings import PublicationRule, SessionSettings
from zenlake.session.sink import Sink

__all__ = ["Factory", "Locality", "PublicationRule", "SessionCore", "SessionSettings", "Sink"]
