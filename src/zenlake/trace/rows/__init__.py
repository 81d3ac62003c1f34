"""The events of a trace as rows of tables."""
