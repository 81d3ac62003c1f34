"""`z_serialize` and `z_deserialize` of `zenoh.ext`."""
