"""Policies for household tasks that need no model: one competent, a few with named flaws."""
