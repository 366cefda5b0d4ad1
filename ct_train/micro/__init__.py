"""The small world: programs that really run, a tokenizer of about 240 entries, and a Llama model of half a million parameters."""
