"""The ConTra trace language: programs and blocks, true traces, text both ways, scores. Pure: no files, no network, no torch."""
