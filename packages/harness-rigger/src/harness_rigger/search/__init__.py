"""The `search` strategy: parameterised component families, no model."""

from harness_rigger.search.strategy import SearchStrategy

__all__ = ["SearchStrategy"]
