"""Experiments of `harness reproduce`."""
