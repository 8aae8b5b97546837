"""The ways to an agent: OpenClaw's webhook and command line, a signed webhook, a command of the operator's."""
