"""Engines that continue trajectories block by block from token ids: transformers and vLLM."""
