"""The admin space of a node, `@/<zid>/<mode>/...`, without I/O (behaviour reference §5).

    space           AdminSpace: queries and configuration writes in, replies out
    settings        its section of the configuration
    query           one query while it is answered
    facts           information of the node, not of routing: locators, links, counters
    topics, one for each kind of key:
      root          the node itself and its sessions
      metrics       OpenMetrics text
      declarations  subscribers, queryables and tokens, with their sources
      interests     publishers and queriers, with theirs
      explain       the destinations of a message, and why (only zenlake has it)
      faces         counters of the node and of each neighbour (only zenlake has them)
      graph         the nodes known to routing
      successors    the next hops between routers
    sources         the nodes that declared something, as JSON
    config_writes   publications on `config/**`

The admin space is a client of its own node, as a session is. An answer may be long: it is a job
(routing/work.py) that yields when the steps of a slice are used up.
"""
