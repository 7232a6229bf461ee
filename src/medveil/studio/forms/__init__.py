"""Forms made of the schemas of methods, models, hierarchies and sources, and read back."""
