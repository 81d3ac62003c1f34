"""The routes of publications and queries, and the messages on them.

publications, run_forwarder   PUSH, one by one and in runs
queries, routed_query         REQUEST, RESPONSE, RESPONSE_FINAL
query_targets                 which faces a query goes to
origin, route, route_cache    where a message comes from, where it goes, and the known routes
explanation, route_notes      the reasons for a route
"""
