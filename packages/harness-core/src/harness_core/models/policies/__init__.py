"""Policies that ask a language model in every step."""
