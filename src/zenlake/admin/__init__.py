"""The admin space of a node, `@/<zid>/<mode>/...`, without I/O (behaviour reference §5).

    space           AdminSpace: queries and configuration writes in, replies out
    settings        what the configuration says about it
    query           one query while it is answered
    facts           what the node knows and routing does not: locators, links, counters
    topics, one for each kind of key:
      root          the node itself and its sessions
      metrics       OpenMetrics text
      declarations  subscribers, queryables and tokens, with their sources
      interests     publishers and queriers, with theirs
      explain       where a message would go, and why, which only zenlake has
      faces         counters of the node and of each neighbour, which only zenlake has
      graph         the nodes that routing knows of
      successors    the next hops between routers
    sources         who declared something, as JSON
    config_writes   publications on `config/**`

The admin space is a client of its own node, as a session is. An answer may be long: it is a job
(routing/work.py) that yields when the steps of a slice are used up.
"""
