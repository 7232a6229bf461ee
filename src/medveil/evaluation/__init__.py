"""The original beside what was published of it: what measures of utility and of risk both look at."""
