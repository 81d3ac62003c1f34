"""What belongs together over time: requests and their answers, declarations, interests."""
