"""The small world: programs that really run, a tokenizer of about 170 entries, and a Llama model of a million parameters."""
