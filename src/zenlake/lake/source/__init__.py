"""Source: `spark.read.format("zenoh")`, captures as DataFrames without a lake.

The input is the options of a reader, the output the rows of one table. Spark finds the format in
the package `pyspark_zenoh` and runs this code in its own Python processes: one that plans, and the
workers. None of them has a Spark session.
"""
