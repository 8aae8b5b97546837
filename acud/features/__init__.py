"""Features: what acud does beside its core job. Each folder holds one domain; the core imports none of them."""
