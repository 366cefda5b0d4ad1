"""Reasoning for the training samples: ConTra traces with a teacher's THOUGHTs (paper D.2), and the baselines' formats."""
