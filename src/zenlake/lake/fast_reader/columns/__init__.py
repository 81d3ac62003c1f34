"""Columns: batches of regular connections to Arrow tables, many at once.

Takes chunks of batches (`assemble`) and the survey; gives the tables that the exact reader would
give for the same connections.
"""
