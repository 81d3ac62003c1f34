"""Queries: `get`, queriers, queryables, replies, cancellation and consolidation."""
