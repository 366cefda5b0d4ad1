"""The transformers sampler with a real (tiny, random) model: log-probabilities, forks, limits, and where blocks end."""

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from ct_train.dbs import beam, regular
from ct_train.rollouts.stopping import Codec, Window, cut_at
from ct_train.rollouts.transformers_sampler import TransformersSampler
from ct_train.rollouts.vllm_sampler import Piece, VllmSampler

VOCAB = [*"abcdefgh", "\n", "[/LOCALS]", "\n[/LOCALS]", "[/TRACE]\n", "<eos>", "<pad>"]
CODEC = Codec(lambda ids: "".join(VOCAB[i] for i in ids if i < 12), frozenset([12]), 13)
PROMPTS = [[1, 2, 3], [4, 5, 6, 7, 1, 2], [3]]


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    config = LlamaConfig(vocab_size=len(VOCAB), hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=512, eos_token_id=12, pad_token_id=13)
    return LlamaForCausalLM(config).eval()


def check(model, prompt, trajectory, temperature):
    ids = torch.tensor([[*prompt, *trajectory.ids]])
    with torch.no_grad():
        logits = model(ids).logits[0, :-1].float() / temperature
    policy = torch.log_softmax(logits, -1)
    fresh = [policy[len(prompt) - 1 + i, token].item() for i, token in enumerate(trajectory.ids)]
    assert fresh == pytest.approx(list(trajectory.logprobs), abs=1e-3)


@pytest.mark.parametrize("temperature", [1.0, 0.7])
@pytest.mark.parametrize("batch_size", [64, 3])
def test_logprobs_equal_a_fresh_forward_pass(model, temperature, batch_size):
    torch.manual_seed(1)
    sampler = TransformersSampler(model, CODEC, max_tokens=60, temperature=temperature, batch_size=batch_size)
    for groups in (beam(PROMPTS, 4, sampler, lambda p, t: float(t.ids[0] % 3)), regular(PROMPTS, 3, sampler)):
        for prompt, group in zip(PROMPTS, groups, strict=True):
            for trajectory in group:
                check(model, prompt, trajectory, temperature)
                assert trajectory.text == CODEC.decode(trajectory.ids)
                assert trajectory.finished
                assert len(trajectory.ids) <= 60
                assert trajectory.truncated == (len(trajectory.ids) == 60 and trajectory.ids[-1] not in (11, 12))


def test_a_fork_shares_its_prefix_token_by_token(model):
    torch.manual_seed(3)
    sampler = TransformersSampler(model, CODEC, max_tokens=40)
    firsts = []

    def first_wins(prompt, trajectory):
        firsts.append(trajectory.ids)
        return float(trajectory.ids[: len(firsts[0])] == firsts[0])

    (group,) = beam([PROMPTS[0]], 4, sampler, first_wins)
    assert all(t.ids[: len(firsts[0])] == firsts[0] for t in group)


@pytest.mark.parametrize(
    ("text", "new", "cut"),
    [("x\n[/LOCALS]", "]", "block"), ("[/LOCALS]", "[/LOCALS]", "block"), ("x [/LOCALS]", "]", ""), ("{'a': '[/LOCALS]'}", "'}", ""), ("x\n[/TRACE]", "E]", "end"), ("\n[/LOCALS]\nmore", "re", ""), ("a\n[/LOCALS]\n", "]\n", "block"), ("", "", "")],
)
def test_only_a_tag_line_that_is_new_ends_a_block(text, new, cut):
    assert cut_at(text, new) == cut


def test_window_sees_a_tag_over_several_tokens():
    window = Window(CODEC, [])
    assert [window.push(t) for t in (0, 8, 9)] == ["", "", "block"]
    assert window.push(11) == ""
    assert [window.push(t) for t in (8, 11)] == ["", "end"]


def test_vllm_sampler_goes_on_from_ids_and_skips_tags_inside_lines():
    asked = []

    def generate(prefixes, room, seeds):
        asked.append((prefixes, room, seeds))
        return [Piece([0, 9] if len(asked) == 1 else [10], [-0.5] * (2 if len(asked) == 1 else 1), "stop") for _ in prefixes]

    sampler = VllmSampler(generate, CODEC, max_tokens=20, seed=7)
    (group,) = regular([[1, 2]], 1, _once(sampler))
    assert group[0].ids == (0, 9, 10)  # "a[/LOCALS]" is no tag line, so it went on at once
    assert asked[1][0] == [[1, 2, 0, 9]]
    assert asked[1][1] == [18]
    assert asked[0][2] != asked[1][2]


def _once(sampler):
    class Once:
        def extend(self, prompts, trajectories):
            from dataclasses import replace

            return [replace(t, finished=True) for t in sampler.extend(prompts, trajectories)]

    return Once()
