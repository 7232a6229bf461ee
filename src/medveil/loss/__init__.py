"""What generalization and suppression cost: each formula once, for searches and for measures."""
