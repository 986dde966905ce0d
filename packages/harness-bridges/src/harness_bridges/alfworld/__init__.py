"""ALFWorld: household tasks in text, on the real engine."""
