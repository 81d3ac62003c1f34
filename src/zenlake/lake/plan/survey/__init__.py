"""The survey: a pass over a capture that decides which connections the fast reader takes."""
