"""The benchmarks, one folder each. ``registry.get(name)`` imports the one that is asked for."""
