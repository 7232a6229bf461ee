"""One check a privacy model, found by being there."""
