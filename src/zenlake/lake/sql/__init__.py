"""SQL over the tables of a lake or of captures: on DuckDB, or on Spark.

Takes a snapshot and a query; gives columns and rows. Queries can only read the tables.
"""
