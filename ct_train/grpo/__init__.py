"""GRPO with the consistency reward and Dynamic Beam Sampling, on trl's trainer."""
