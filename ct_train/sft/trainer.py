"""trl's SFTTrainer with batches of similar length."""

from __future__ import annotations

from typing import Any

from trl import SFTTrainer

from ct_train.sft.buckets import BucketSampler


class ContraSFTTrainer(SFTTrainer):  # type: ignore[misc]
    """The only change: which rows share a batch, where rows are not packed."""

    def _get_train_sampler(self, train_dataset: Any = None) -> Any:
        if self.args.packing:
            return super()._get_train_sampler(train_dataset)
        rows = self.train_dataset if train_dataset is None else train_dataset
        batch = self.args.per_device_train_batch_size * self.accelerator.num_processes
        return BucketSampler([len(ids) for ids in rows["input_ids"]], batch, self.args.seed)
