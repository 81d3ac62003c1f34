"""Tools for tests of and with zenlake; they need the `test` extra."""
