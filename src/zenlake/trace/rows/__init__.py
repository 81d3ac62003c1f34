"""What a trace says as rows of tables: records, for whoever writes them."""
