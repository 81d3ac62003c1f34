"""The Spark sink: `df.write.format("zenoh")` and `df.writeStream.format("zenoh")`.

Spark constructs a writer on the driver, once for each batch, and pickles it to the tasks. Each task
opens a session, publishes its rows and waits until the router has received them.
"""
