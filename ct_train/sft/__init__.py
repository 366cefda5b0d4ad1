"""Supervised fine-tuning on perfect traces, on trl's trainer."""
