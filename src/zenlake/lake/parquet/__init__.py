"""Parquet: the files of tables, written by tasks and not by Spark.

parquet_files        tables to new files, with the statistics that a Delta log keeps
statistics           least and greatest values of columns
column_replacement   a copy of a file in which one column has other values
trace_ids            files of `samples` with the `trace_id` that was found later
row_removal          a copy of a file without the rows of some captures
thrift               the encoding of a Parquet file's footer
"""
