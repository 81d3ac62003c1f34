"""Sessions: opening and closing, declared objects, liveliness tokens."""
