"""``python -m ct_train``."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from ct_tasks.cli.main import dispatch

COMMANDS: Mapping[str, str] = {
    "data": "LeetCodeReasoning: filter, inputs, execution, similarity, split",
    "synth": "ConTra traces with a teacher's THOUGHTs, and the baselines' formats",
    "reward": "score saved rollouts with any reward",
    "micro": "the small world: programs, a tokenizer and a model of half a million parameters",
    "sft": "supervised fine-tuning on ConTra traces",
    "grpo": "GRPO with the consistency reward and Dynamic Beam Sampling",
    "ablate": "the paper's ablations (Tables 2, 5, 6, 8, Figures 4, 5) and the baselines' rewards, over seeds",
    "demo": "the paper in small on a CPU: small world, SFT, GRPO, lm_eval, report",
    "export": "data, reward and rollout loop for verl and LlamaFactory",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand; the exit code."""
    return dispatch("ct_train", COMMANDS, sys.argv[1:] if argv is None else argv)


if __name__ == "__main__":
    sys.exit(main())
