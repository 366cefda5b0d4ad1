"""Running what a model wrote, and programs whose trace is wanted, outside the scorer's process."""
