"""The nodes around a session: scouting, transports, links, and their events."""
