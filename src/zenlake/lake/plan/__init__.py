"""Plan: which captures are read, what their connections are, and which task reads which part."""
