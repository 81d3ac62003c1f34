"""Subscribers, queryables, tokens, key aliases and interests: received, kept and announced.

entity, entity_table      a key on which something is declared, its holders, the faces that know it
received_declarations     D_x and U_x from faces
announcer                 D_x and U_x to faces
received_interests        INTEREST from faces
gateway_interests         INTEREST to gateways
interest, interest_table  an interest, and all of them by key
key_table                 the numbers that stand for keys on one face
token_endings             faces that need not learn that a token ended
deferred_tokens           tokens that a peer with several gateways learns of later
"""
