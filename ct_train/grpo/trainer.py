"""trl's GRPOTrainer with our rollouts: part of each group by regular sampling, part by DBS, from token ids.

trl's ``rollout_func`` sees prompts only, so the trainer keeps the rows of the batch (with their true traces) while it
generates. Rewards of the finished rollouts and partial scores of growing ones come from the same scoring functions.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import torch
from accelerate.utils import gather_object
from torch.utils.data import Sampler
from trl import GRPOTrainer
from trl.models.utils import unwrap_model_for_generation
from trl.trainer.utils import RepeatSampler

from ct_tasks.contra.scoring import RewardOptions
from ct_tasks.contra.trace import Truth
from ct_train.dbs import Trajectory, generated_tokens, mixed, worth
from ct_train.grpo.config import GrpoSettings
from ct_train.grpo.data import prompt_ids
from ct_train.grpo.rollout_log import RolloutLog, group_figures
from ct_train.grpo.trim import by_rows, pieces
from ct_train.rewards import RewardResult
from ct_train.rewards.batch import text_of
from ct_train.rollouts.static_sampler import StaticSampler
from ct_train.rollouts.stopping import Codec
from ct_train.rollouts.transformers_sampler import TransformersSampler


class EpochSampler(Sampler[int]):
    """trl's order of prompts, drawn from the seed and the epoch: trl's own goes on from the last epoch's generator, which no
    checkpoint keeps, so a run resumed after its first epoch would see the first epoch's order again."""

    def __init__(self, order: RepeatSampler) -> None:
        self.order = order

    def set_epoch(self, epoch: int) -> None:
        self.order.generator.manual_seed(self.order.seed + epoch)

    def __iter__(self) -> Iterator[int]:
        return iter(self.order)

    def __len__(self) -> int:
        return len(self.order)


class ContraGRPOTrainer(GRPOTrainer):  # type: ignore[misc]
    """GRPO whose rollouts are ``settings.regular`` regular samples and DBS for the rest of each group."""

    def __init__(self, *args: Any, settings: GrpoSettings, rollout_log: RolloutLog, **kwargs: Any) -> None:
        self.settings, self.rollout_log = settings, rollout_log
        self.rows: list[dict[str, Any]] = []
        self.halves: list[str] = []
        self.truncated: list[bool] = []
        self.new_tokens = 0  # of this process's last rollout, lost branches included
        self.generated = 0  # of all processes since the run began
        self.vllm_sampler: Any = None
        super().__init__(*args, rollout_func=self.rollout, **kwargs)

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        self.rows = inputs
        return dict(super()._generate_and_score_completions(inputs))

    def _get_train_sampler(self, dataset: Any = None) -> EpochSampler:
        return EpochSampler(super()._get_train_sampler(dataset))

    def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> Any:
        """On a CPU with a small model padding is the cost; each piece's mean over its rows is weighted by its share."""
        if self.settings.engine != "static" or not by_rows(self.settings.loss_type, self.settings.entropy):
            return super()._compute_loss(model, inputs)
        losses = [share * super(ContraGRPOTrainer, self)._compute_loss(model, piece) for share, piece in pieces(inputs)]
        return torch.stack(losses).sum()

    def rollout(self, prompts: list[Any], trainer: GRPOTrainer) -> dict[str, Any]:
        """trl's rollout hook: prompts come in runs of the group size."""
        size = self.settings.group_size
        rows = self.rows[::size]
        ids = [prompt_ids(self.processing_class, p) for p in prompts[::size]]
        truths = [_truth(row["truth"]) for row in rows]
        options = RewardOptions(**self.settings.beam_options())

        def score(prompt: int, trajectory: Trajectory) -> float:
            return worth(trajectory, truths[prompt], options)

        with self._sampler() as sampler:
            by_dbs = size - self.settings.regular
            groups = mixed(ids, self.settings.regular, by_dbs, sampler, score)
        self.new_tokens = generated_tokens(groups)
        self.halves = (["regular"] * self.settings.regular + ["dbs"] * by_dbs) * len(ids)
        flat = [t for group in groups for t in group]
        self.truncated = [t.truncated for t in flat]
        out = {
            "prompt_ids": [list(p) for p in ids for _ in range(size)],
            "completion_ids": [list(t.ids) for t in flat],
            "logprobs": [list(t.logprobs) for t in flat] if self.use_vllm else None,
        }
        if self.settings.mask_truncated:
            # The one mask: trl's own would take every trace for truncated that ends with its tag instead of an end token.
            out["env_mask"] = [[int(not t.truncated)] * len(t.ids) for t in flat]
        return out

    def _sampler(self) -> Any:
        return _VllmScope(self) if self.use_vllm else _ModelScope(self)

    def keep(self, results: Sequence[RewardResult | None], completions: Sequence[Any]) -> None:
        """Called with every scored batch: figures for the logs, rows for ``rollouts.jsonl``, both of all processes."""
        mode = "train" if self.model.training else "eval"
        local = zip(
            results, self.halves, map(text_of, completions), self.truncated, (r.get("id") for r in self.rows), strict=True
        )
        scored, halves, texts, truncated, names = zip(*gather_object(list(local)), strict=True)
        self.generated += sum(gather_object([self.new_tokens]))
        metrics = self._metrics[mode]
        for name, value in group_figures(scored, halves, texts, self.settings.group_size).items():
            metrics[f"rollout/{name}"].append(value)
        metrics["rollout/truncated"].append(sum(truncated) / len(truncated))
        metrics["rollout/generated_tokens"].append(float(self.generated))
        if mode == "train" and self.accelerator.is_main_process:
            step, size = self.state.global_step, self.settings.group_size
            self.rollout_log.write(
                [
                    {"step": step, "group": i // size, "half": halves[i], "id": names[i], "text": texts[i]}
                    | (r.to_json() if r else {"reward": None})
                    for i, r in enumerate(scored)
                ]
            )


@lru_cache(maxsize=4096)
def _truth(text: str) -> Truth:
    return Truth.from_json(json.loads(text))


class _ModelScope:
    """The policy in eval mode, gathered under ZeRO-3, for as long as a rollout samples from it."""

    def __init__(self, trainer: ContraGRPOTrainer) -> None:
        self.trainer = trainer

    def __enter__(self) -> TransformersSampler | StaticSampler:
        trainer = self.trainer
        self.was_training = trainer.model.training
        self.scope = unwrap_model_for_generation(
            trainer.model_wrapped, trainer.accelerator, gather_deepspeed3_params=trainer.args.ds3_gather_for_generation
        )
        model = self.scope.__enter__()
        model.eval()
        settings = trainer.settings
        codec = Codec.of(trainer.processing_class, trainer.eos_token_ids)
        if settings.engine == "static":
            return StaticSampler(
                model, codec, max_tokens=settings.max_response_tokens, temperature=settings.temperature
            )
        return TransformersSampler(
            model,
            codec,
            max_tokens=settings.max_response_tokens,
            temperature=settings.temperature,
            batch_size=max(64, settings.completions_per_device),
        )

    def __exit__(self, *error: Any) -> None:
        self.scope.__exit__(*error)
        self.trainer.model.train(self.was_training)
        if torch.cuda.is_available():
            torch.cuda.empty_cache()


class _VllmScope:
    """vLLM's engine; trl has pushed the policy's weights into it before the rollout."""

    def __init__(self, trainer: ContraGRPOTrainer) -> None:
        self.trainer = trainer

    def __enter__(self) -> Any:
        from ct_train.rollouts.vllm_sampler import VllmSampler, engine_generate, server_generate

        trainer, settings = self.trainer, self.trainer.settings
        if trainer.vllm_sampler is None:
            codec = Codec.of(trainer.processing_class, trainer.eos_token_ids)
            if trainer.vllm_mode == "colocate":
                generate = engine_generate(trainer.vllm_generation.llm, temperature=settings.temperature)
            else:
                from trl.generation.vllm_client import VLLMClient

                client = VLLMClient(base_url=settings.vllm_server_url)  # only trl's own pushes weights, from one process
                generate = server_generate(client, temperature=settings.temperature)
            trainer.vllm_sampler = VllmSampler(
                generate, codec, max_tokens=settings.max_response_tokens, seed=settings.seed
            )
        if trainer.vllm_mode == "server":
            trainer.accelerator.wait_for_everyone()  # until the process that pushes the weights has done so
        # Seeds follow the step, so a resumed run draws what the uninterrupted one would have drawn; each process has its own.
        place = trainer.state.global_step * trainer.accelerator.num_processes + trainer.accelerator.process_index
        trainer.vllm_sampler.drawn = place * 1_000_000
        return trainer.vllm_sampler

    def __exit__(self, *error: Any) -> None:
        return None
