"""Who declared what, and who gets what: the dispatcher of a node, without I/O.

    dispatcher      Dispatcher: messages of all faces in, messages to other faces out
    outlet          where the messages for one face go
    face, region    one neighbour, and the neighbours that are treated alike
    key_table       the numbers that stand for keys on one face
    tables          the state that all parts share, made of
      entity, entity_table        what is declared, and who knows of it
      interest, interest_table    what nodes below ask for
    declarations    D_x and U_x that come in          announcements   those that go out
                    (endings: who has heard of the end of a token)
    interests       INTERESTs that come in            upward          those that go out
    publications    PUSH
    route, route_cache, origin    where a key goes, until that changes; from where
    queries         REQUEST, RESPONSE, RESPONSE_FINAL (query; query_targets: who is asked)
    explanation     where a message would go, and why (route_notes: what was decided)
    gossip          OAM: peers tell of each other (gateway_gossip: what a router does;
                    network_gossip: of all peers there are; gateways: which of several a peer has)
    sourced_region  what travels along trees: between routers, and between linkstate peers
                    (parents, reports: whom to believe; withdrawals: what some may not have
                    heard; election: which router carries a key from one network to the other)
    network         OAM: nodes tell how they are linked, made of
      flooding, link_states       what is said, and how on one link
      network_graph, _node        who is linked to whom (weights: how far that is)
      tree_cache, trees           shortest paths, from those who are asked for
      network_report              all this for the admin space
    work            long work in short turns: jobs and steps
    memory          what a neighbour makes this node keep, in bytes
    hlc, stamps, timers, settings, counters

Nothing here knows clocks, sockets or threads.
"""
