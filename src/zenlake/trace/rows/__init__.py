"""What a trace says as rows of tables: plain tuples, for whoever writes them."""
