"""Derive: tables that are put together from messages of the same session, or of several."""
