"""The lake: captures as tables, in Parquet files that any reader finds whole."""
