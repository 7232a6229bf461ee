"""What another package may bring to medveil: a model, a method, a source and a hierarchy, by entry points alone."""
