"""Values that messages hold: ids, times, encodings, qualities of service, key expressions."""
