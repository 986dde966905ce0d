"""Language models: calls, their cache and cost, and policies that act by them."""
