"""Runs of the agent: driven here step by step, planned by a chat model behind an evaluator."""
