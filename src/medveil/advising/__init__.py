"""What one change of a policy would give, tried on cells: for the steward of a release that is of little use."""
