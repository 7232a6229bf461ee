"""What medveil can do, one file a use case: each takes a run and returns data, which others show."""
