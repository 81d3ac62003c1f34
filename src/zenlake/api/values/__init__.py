"""Values that need no network: bytes, encodings, constants, ids and times."""
