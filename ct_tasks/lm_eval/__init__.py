"""Everything that touches lm-eval: registration, the task class, the batch filter, metrics."""
