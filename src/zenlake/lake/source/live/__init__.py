"""Live: `spark.readStream.format("zenoh")`, recordings and rotated captures while they grow.

Spark runs one planning process for each query. It lists files and steps through their blocks to
choose the end of each micro-batch; tasks decode the byte ranges. Offsets name a file and a position
in it, so that every batch can be read again after a failure.
"""
