"""The dispatcher of a node: keeps declarations and forwards messages. Sans-I/O.

    dispatcher      Dispatcher: messages of all faces in, messages to other faces out
    outlet          through which routing sends messages to one face
    face, region    one neighbour, and the neighbours that are treated alike
    tables          the state that all parts share
    declarations/   DECLARE and INTEREST: received, kept by key, announced to other faces
    forwarding/     PUSH, REQUEST, RESPONSE: routes, their cache, and why a message takes one
    network/        link states, trees and declarations of routers and linkstate peers
    gossip/         OAM between peers: discovery, and the gateways that a peer has
    work            long work in short slices: jobs and steps
    memory          the bytes that a neighbour makes this node keep
    hlc, stamps, timers, settings, counters, face_map

No module here uses clocks, sockets or threads.
"""
