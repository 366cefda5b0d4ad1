"""Files for engines that train on larger clusters than trl: verl (GRPO under Ray) and LlamaFactory (SFT)."""
