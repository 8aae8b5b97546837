"""A worker: takes jobs of a fleet and judges them with its own models. It needs no daemon, no display and no store."""
