"""Reading the stores of other programs, so that their users can move in."""
