"""Written from what the rules declare by `make generate`."""
