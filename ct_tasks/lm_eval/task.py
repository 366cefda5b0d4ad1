"""One lm-eval task class for every benchmark: documents, prompts, one batch of scores, metrics."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from lm_eval.api.instance import Instance
from lm_eval.api.task import ConfigurableTask

from ct_tasks import __version__
from ct_tasks.benchmarks import registry
from ct_tasks.benchmarks.base import Item
from ct_tasks.errors import HarnessError
from ct_tasks.lm_eval import capture, metrics
from ct_tasks.lm_eval.collect import Given, collect
from ct_tasks.lm_eval.options import check_metadata, check_task
from ct_tasks.lm_eval.tokens import TokenCounter
from ct_tasks.options import TaskOptions
from ct_tasks.score import Score

log = logging.getLogger(__name__)
told = logging.getLogger("lm_eval.ct_tasks")  # a child of the harness' own logger, which shows what it is told at INFO
FILTER = "score"
# Encoded again, a sampled reply can be a little shorter than what was generated: within 1/64 of the limit it may have been cut.
# That is a reason to warn, and never a verdict.
MARGIN = 64


class CtTask(ConfigurableTask):  # type: ignore[misc]
    """A ``ct_*`` task. Documents are ``{"id", "data"}`` with the item's data as JSON text, so Arrow keeps them as they are."""

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        config = {k: v for k, v in (config or {}).items() if k != "class"}
        metadata = dict(config.get("metadata") or {})
        self.options: TaskOptions = check_metadata(metadata)
        check_task(config["task"], self.options)
        self.benchmark = registry.get(config["task"])
        self.token_counter = TokenCounter.from_metadata(metadata, self.options.tokenizer)
        self.items: dict[str, Item] = {}
        generation = self.benchmark.generation(self.options)
        self._until, self._chat = list(generation.until), False
        self._sent = list(self._until)
        sampled = generation.temperature > 0
        super().__init__(
            config={
                "output_type": "generate_until",
                "test_split": "test",
                "doc_to_text": self._text,
                "doc_to_target": self._target,
                "repeats": self.options.repeats,
                "generation_kwargs": {
                    "until": list(self._until),
                    "max_gen_toks": generation.max_gen_toks,
                    "do_sample": sampled,
                    **({"temperature": generation.temperature, "top_p": generation.top_p} if sampled else {}),
                },
                "metric_list": metrics.declared(self.benchmark.domain, self.options.repeats, self.benchmark.name),
                "process_results": self.process_results,
                **config,
                "metadata": {
                    **metadata,
                    "version": self.benchmark.version,
                    "ct_options": self.options.to_json(),
                    "ct_version": __version__,
                    "ct_source": dataclasses.asdict(self.benchmark.source),
                },
            }
        )
        self._filters = [BatchScore(self)]

    def download(self, dataset_kwargs: dict[str, Any] | None = None, **kwargs: Any) -> None:
        """Items of the benchmark as a ``datasets.Dataset``. Raises ``DataError`` where the data cannot be had."""
        from datasets import Dataset

        self.items = {item.id: item for item in self.benchmark.items(self.options)}
        rows = [{"id": i.id, "group": i.group or i.id, "data": json.dumps(dict(i.data))} for i in self.items.values()]
        self.dataset = {"test": Dataset.from_list(rows)}

    def item(self, doc: Mapping[str, Any]) -> Item:
        """The item behind a document."""
        return self.items[doc["id"]]

    def _text(self, doc: Mapping[str, Any]) -> str:
        return self.benchmark.prompt(self.item(doc), self.options, chat=False)

    def _target(self, doc: Mapping[str, Any]) -> str:
        return self.benchmark.gold(self.item(doc), self.options)

    def doc_to_text(self, doc: Mapping[str, Any], doc_to_text: Any = None) -> str:
        return self._text(doc)

    def doc_to_target(self, doc: Mapping[str, Any], doc_to_target: Any = None) -> str:
        return self._target(doc)

    def fewshot_context(
        self,
        doc: Mapping[str, Any],
        num_fewshot: int = 0,
        system_instruction: str | None = None,
        apply_chat_template: bool = False,
        fewshot_as_multiturn: bool = False,
        chat_template: Callable[..., str] | None = None,
        gen_prefix: str | None = None,
        **_: Any,
    ) -> str:
        """The prompt of the paradigm. ``--num_fewshot`` counts where the option ``shots`` is not given."""
        options = self.options
        if num_fewshot and options.shots is None:
            options = dataclasses.replace(options, shots=num_fewshot)
        prompt = self.benchmark.prompt(self.item(doc), options, chat=apply_chat_template)
        if not apply_chat_template or chat_template is None:
            return f"{system_instruction}\n\n{prompt}" if system_instruction else prompt
        turns = [{"role": "system", "content": system_instruction}] if system_instruction else []
        return chat_template([*turns, {"role": "user", "content": prompt}], add_generation_prompt=True)

    def build_all_requests(
        self, *, tokenizer_name: str = "", apply_chat_template: bool = False, **kwargs: Any
    ) -> None:
        """lm-eval's own, with a cache key (``--cache_requests``) that knows what our prompts depend on."""
        capture.install()  # by now the model is there
        self._chat = bool(apply_chat_template)
        self._choose_stop_strings()
        settings = dict(self.config.generation_kwargs)
        known = json.dumps(
            [self.options.to_json(), self.benchmark.version, __version__, settings], sort_keys=True, default=str
        )
        digest = hashlib.sha256(known.encode()).hexdigest()[:16]
        super().build_all_requests(
            tokenizer_name=f"{tokenizer_name}-{digest}", apply_chat_template=apply_chat_template, **kwargs
        )
        sampled = bool(self.config.generation_kwargs.get("do_sample"))
        if self.options.repeats > 1 and not sampled:
            log.warning(
                "%s: %d repeats without sampling give %d equal replies; add --gen_kwargs temperature=0.8,do_sample=True",
                self.config.task,
                self.options.repeats,
                self.options.repeats,
            )

    def _choose_stop_strings(self) -> None:
        """With a chat template none are sent. The prompt itself teaches them (``[/ANSWER]``), so a model that thinks first
        writes them in its thought and would be stopped there; and a chat model ends its turn by itself. A base model keeps
        them. What the user gave with ``--gen_kwargs until=...`` stays."""
        settings = self.config.generation_kwargs
        if settings.get("until") == self._sent:
            self._sent = [] if self._chat else list(self._until)
            settings["until"] = list(self._sent)

    def process_results(self, doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, Any]:
        """Numbers of one document over all its generations."""
        rows = [json.loads(row) for row in results[0]]
        return metrics.of_document(rows, self.options.repeats)

    def score_instances(self, instances: Sequence[Instance]) -> list[list[str]]:
        """Every generation of every document in one batch; a list of verdict rows (JSON text) an instance."""
        given = collect(instances, self.item, chat=self._chat)
        counts = self._tokens(given)
        self._warn_of_unknown_endings(given, counts)
        answers = [one.answer for one in given]
        try:
            scores = self.benchmark.score(answers, self.options)
        except HarnessError as error:
            # Other tasks of the same run keep their results; this one has no score at all, and says why.
            log.error("%s: not scored: %s", self.config.task, error)
            scores = [Score("harness_error", reason=str(error))] * len(answers)
        rows = [
            json.dumps({**score.to_json(), "tokens_out": count, "ending": one.told()})
            for score, count, one in zip(scores, counts, given, strict=True)
        ]
        out, position = [], 0
        for inst in instances:
            out.append(rows[position : position + len(inst.resps)])
            position += len(inst.resps)
        self._warn_if_nothing_was_answered(rows)
        return out

    def _tokens(self, given: Sequence[Given]) -> list[int | None]:
        """Tokens of each reply as the backend counted them; where it did not, as the tokenizer counts the text again."""
        missing = [one for one in given if one.ending.tokens is None]
        counted = iter(self.token_counter.count([one.whole_text for one in missing]) if missing else [])
        return [next(counted) if one.ending.tokens is None else one.ending.tokens for one in given]

    def _warn_of_unknown_endings(self, given: Sequence[Given], counts: Sequence[int | None]) -> None:
        """A guess from the length is told and decides nothing."""
        limit = int(self.config.generation_kwargs.get("max_gen_toks", 0))
        least = limit - max(1, limit // MARGIN)
        long = sum(
            one.answer.truncated is None and count is not None and count >= least
            for one, count in zip(given, counts, strict=True)
        )
        if limit and long:
            log.warning(
                "%s: this backend does not say why a reply ended. %d of %d replies are about max_gen_toks=%d tokens long and may "
                "have been cut; none of them counts as truncated. Give more room with --gen_kwargs max_gen_toks=...",
                self.config.task,
                long,
                len(given),
                limit,
            )

    def _warn_if_nothing_was_answered(self, rows: Sequence[str]) -> None:
        empty = sum(json.loads(row)["status"] == "no_answer" for row in rows)
        if rows and empty == len(rows):
            log.warning(
                "%s: not one of %d replies holds an answer in the format of paradigm %s. Look at a sample; a chat model needs "
                "--apply_chat_template, a base model must run without it.",
                self.config.task,
                len(rows),
                self.options.paradigm or self.benchmark.paradigms[0],
            )


class BatchScore:
    """In the place of lm-eval's filter ensemble: called once per task with all instances, and scores them in one batch."""

    name = FILTER

    def __init__(self, task: CtTask) -> None:
        self.task = task

    def apply(self, instances: Sequence[Instance]) -> None:
        began = time.monotonic()
        rows = self.task.score_instances(instances)
        told.info("%s: %d answers scored in %.1f s", self.task.config.task, len(instances), time.monotonic() - began)
        for instance, verdicts in zip(instances, rows, strict=True):
            cast(dict[str, Any], instance.filtered_resps)[FILTER] = verdicts
