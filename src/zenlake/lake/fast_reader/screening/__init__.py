"""Screening: which rules to evaluate for which messages of regular connections.

Input: decoded columns. Output: violations, and pairs that the exact reader must check (`doubted`).

    rule_selection          which part evaluates which rules, from what `zenlake.rules` declare
    vocabulary              the words of declared conditions; `generate` compiles them to kernels
    condition_functions     functions that compiled conditions call
    screen_kernel           one pass over the columns: conditions, noncanonical forms, silences
    requests, sources, fragments    facts of earlier messages that rules need
    screen                  makes the messages concerned and evaluates the rules

A condition is true for every message that breaks its rule, and may be true for others.
"""
