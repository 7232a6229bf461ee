"""What a column seems to be: its role, its type and a first hierarchy, from its name and its values."""
