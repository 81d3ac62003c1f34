"""Generated from the definitions by `make generate`; the hot part of the codec."""
