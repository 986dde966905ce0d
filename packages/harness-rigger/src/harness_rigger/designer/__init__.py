"""The strategy `llm`: a model diagnoses and writes, in the words that the loop gives it."""

from harness_rigger.designer.strategy import LlmStrategy

__all__ = ["LlmStrategy"]
