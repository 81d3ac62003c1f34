"""Columns: batches of regular connections to Arrow tables, many at once.

Input: units (`assemble`) and the survey. Output: the tables that the exact reader would make of the
same connections.
"""
