"""The 24 game: four cards, four operations, one number left that must be 24."""
