"""What use cases returned, shown in a terminal: short, plain, and nothing that the release does not hold."""
