"""`Config`: the keys, the kinds of their values, the JSON5 reader, and unimplemented settings."""
