"""Benchmarks as actionable envs."""
