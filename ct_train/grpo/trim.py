"""Forward passes without padding: rows of similar length together, each piece cut to what it holds.

trl pads a whole rollout to its longest prompt and completion. In a group some completions run to the length limit, so on a
CPU more than half of the arithmetic would be spent on padding.
"""

from __future__ import annotations

from typing import Any

import torch

ROWS = 64  # rows a piece: enough for efficient products, few enough to be alike


def by_rows(loss_type: str, entropy: float) -> bool:
    """Whether a batch's loss is the mean over its rows, so that pieces weighted by their rows make the same loss: not where
    tokens are counted over all rows together, as ``dapo``, ``bnpo`` and the entropy bonus do."""
    return loss_type in ("grpo", "dr_grpo") and entropy == 0


def pieces(inputs: dict[str, Any], rows: int = ROWS) -> list[tuple[float, dict[str, Any]]]:
    """(share of the rows, inputs) of each piece. Prompts are padded on the left, completions on the right; a tensor with as
    many columns as the completions is cut like them."""
    mask, prompts = inputs["completion_mask"], inputs["prompt_mask"]
    count, width = mask.shape
    order = (mask.sum(dim=1) * (prompts.shape[1] + 1) + prompts.sum(dim=1)).argsort()
    found = []
    for begin in range(0, count, rows):
        some = order[begin : begin + rows]
        end = max(1, int(mask[some].sum(dim=1).max()))
        start = prompts.shape[1] - int(prompts[some].sum(dim=1).max())
        piece: dict[str, Any] = {}
        for name, value in inputs.items():
            if not isinstance(value, torch.Tensor) or value.ndim == 0 or value.shape[0] != count:
                piece[name] = value
            elif name in ("prompt_ids", "prompt_mask"):
                piece[name] = value[some, start:]
            elif value.ndim == 2 and value.shape[1] == width:
                piece[name] = value[some, :end]
            else:
                piece[name] = value[some]
        found.append((len(some) / count, piece))
    return found
