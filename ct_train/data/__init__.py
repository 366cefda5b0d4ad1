"""LeetCodeReasoning: from rows of LeetCodeDataset to (program, call, output) samples in two halves (paper section 2)."""
