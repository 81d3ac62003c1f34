"""SQL over the tables of a lake: on DuckDB, or on Spark."""
