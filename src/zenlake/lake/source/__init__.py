"""Source: `spark.read.format("zenoh")`, captures as DataFrames without a lake.

Takes the options of a reader; gives rows of one table. Spark finds the format by itself, in the
package `pyspark_zenoh`, and runs this code in Python processes of its own: one that plans, and the
workers. None of them has a Spark session.
"""
