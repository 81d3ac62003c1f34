"""Link-state networks of routers and of linkstate peers, and what their nodes declare.

networks                      Networks: all of a node, and what their changes do to routing
network                       Network: the graph and its trees, as routing uses them
flooding, link_states         how nodes describe themselves to each other
graph, node, weights          nodes, links and how long a link is
versions                      the versions of link states, and the lives of nodes
trees, tree_cache             shortest paths
report                        the network as the admin space shows it
sourced_region                declarations that travel along trees
parents, neighbour_reports    which neighbour is believed about a node
withdrawals                   recent undeclarations, repeated to new children of a tree
election                      which router carries a key between two networks
"""
