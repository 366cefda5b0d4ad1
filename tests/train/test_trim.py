"""Forward passes without padding give the loss and the gradient of the padded pass."""

import torch

from ct_train.grpo.trim import pieces
from ct_train.micro.model import model, tokenizer


def batch(rows=11, seed=0):
    torch.manual_seed(seed)
    prompts, completions = torch.randint(5, 100, (rows, 9)), torch.randint(5, 100, (rows, 14))
    before, after = torch.randint(1, 10, (rows, 1)), torch.randint(1, 10, (rows, 1))
    return {
        "prompt_ids": prompts, "prompt_mask": (torch.arange(9)[None] >= 9 - before).long(), "completion_ids": completions, "completion_mask": (torch.arange(14)[None] < after).long(),
        "advantages": torch.randn(rows), "old": torch.randn(rows, 14), "num_items_in_batch": torch.tensor(7), "name": "x",
    }


def loss(made, inputs):
    """The GRPO surrogate at ratio 1, a mean over rows of a mean over tokens."""
    ids = torch.cat([inputs["prompt_ids"], inputs["completion_ids"]], 1)
    mask = torch.cat([inputs["prompt_mask"], inputs["completion_mask"]], 1)
    width = inputs["completion_ids"].shape[1]
    logits = made(input_ids=ids, attention_mask=mask, position_ids=(mask.cumsum(1) - 1).clamp(min=0)).logits[:, -width - 1 : -1]
    policy = torch.log_softmax(logits, -1).gather(2, inputs["completion_ids"][:, :, None])[:, :, 0]
    keep = inputs["completion_mask"]
    return -((policy * inputs["advantages"][:, None] + 0 * inputs["old"]) * keep).sum(1).div(keep.sum(1)).mean()


def test_pieces_give_the_same_loss_and_gradient():
    made = model(tokenizer(), hidden=32, layers=2, heads=4, groups=2, inner=32)
    inputs = batch()
    found = []
    for parts in ([(1.0, inputs)], pieces(inputs, rows=4)):
        made.zero_grad()
        total = sum(share * loss(made, part) for share, part in parts)
        total.backward()
        found.append((total.detach(), torch.cat([p.grad.flatten() for p in made.parameters()])))
    torch.testing.assert_close(found[0], found[1], rtol=1e-4, atol=1e-6)


def test_every_row_is_in_one_piece_and_none_is_wider_than_it_must_be():
    inputs = batch()
    made = pieces(inputs, rows=4)
    assert sum(share for share, _ in made) == 1
    assert torch.cat([p["advantages"] for _, p in made]).sort().values.equal(inputs["advantages"].sort().values)
    for _, part in made:
        assert part["completion_mask"][:, -1].any()
        assert part["prompt_mask"][:, 0].any()
        assert part["old"].shape == part["completion_ids"].shape
        assert part["num_items_in_batch"] == 7
        assert part["name"] == "x"
