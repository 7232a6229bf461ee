"""The pages, one file a step."""
