"""Handlers: channels that users read, and callbacks with the threads that run them."""
