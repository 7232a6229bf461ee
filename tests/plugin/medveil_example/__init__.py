"""What another package may bring to medveil: a model, a method and a hierarchy, by entry points alone."""
