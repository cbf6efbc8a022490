"""What the figures in the docs come from."""
