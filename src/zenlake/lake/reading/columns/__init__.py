"""The columnar road: regular connections, many batches at once, from the kernels' columns."""
