"""SQL over the tables of a lake or of captures: on DuckDB, or on Spark.

Input: a snapshot and a query. Output: columns and rows. Queries can only read the tables.
"""
