"""Screening: which regular connections surely break no rule, by columns alone.

What is asked of many rows at once is never less than what the rules ask: a pair that passes
has nothing to be found among its frequent messages. One that does not is read again, message
by message, by the rules themselves.
"""
