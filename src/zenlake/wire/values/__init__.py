"""Values that messages hold: ids, times, encodings, qualities, key expressions."""
