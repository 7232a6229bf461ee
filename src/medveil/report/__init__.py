"""From numbers to pictures to one self-contained HTML page."""
