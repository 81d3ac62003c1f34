"""Publishers, subscribers, samples, and whether a publisher has subscribers."""
