"""`spark.read.format("zenoh")`: captures as DataFrames, without a lake.

Spark finds the format by itself, in the package `pyspark_zenoh`. It runs what is here in Python
processes of its own: one that plans, and the workers; none of them has a Spark session.
"""
