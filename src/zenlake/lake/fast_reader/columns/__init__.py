"""The fast reader: regular connections, many batches at once, from the kernels' columns."""
