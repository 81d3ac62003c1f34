"""Arguments of users, checked and converted to what the session and the wire use."""
