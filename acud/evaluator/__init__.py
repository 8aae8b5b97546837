"""The evaluator process: looks at frames and asks judges; holds nothing that a restart would lose."""
