"""From bytes to batches: which connections carry Zenoh, and where their batches begin and end."""
