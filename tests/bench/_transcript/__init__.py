"""What the transcript is measured with: a view on a real log, and a plain list to compare."""
