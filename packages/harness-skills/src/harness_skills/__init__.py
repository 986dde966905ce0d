"""Skills: what was learned from episodes, kept in banks and given to policies as text."""
