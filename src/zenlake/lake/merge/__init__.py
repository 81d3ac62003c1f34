"""Merge: one split of a capture, by both readers, into the Parquet files of one task."""
