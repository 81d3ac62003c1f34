"""Messages that belong together: requests and their answers, declarations, interests."""
