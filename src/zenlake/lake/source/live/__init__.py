"""Live: `spark.readStream.format("zenoh")`, recordings and rotated captures while they grow.

Spark keeps one planning process for each query. It lists files and walks over their blocks to
choose the end of each micro-batch; tasks decode the byte ranges between. Offsets name a file and a
position in it, so that every batch can be read again after a failure.
"""
