"""Training a model to reason about code in ConTra: data, synthesis, SFT, GRPO with the consistency reward."""
