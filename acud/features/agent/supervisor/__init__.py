"""Agent runs in the supervisor: driven step by step, planned by a chat model behind an evaluator."""
