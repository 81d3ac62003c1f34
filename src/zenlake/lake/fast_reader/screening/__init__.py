"""Screening: which rules are to be asked about which messages of regular connections.

    plan            who asks which rules, by what `zenlake.rules` declare
    vocabulary      the words of declared conditions; `generate` makes kernel parts of them
    screen_kernel   one pass over the columns: conditions, spelling, silences
    requests, sources, fragments    what rules need of earlier messages
    screen          makes the messages concerned and asks; doubts what it cannot

A condition is never less than what its rule asks: a message for which it is not true breaks none.
"""
