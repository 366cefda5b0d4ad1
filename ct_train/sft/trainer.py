"""trl's SFTTrainer with batches of similar length, which stops at the first number that is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trl import SFTTrainer

from ct_train.finite import FiniteMixin
from ct_train.sft.buckets import BucketSampler


class ContraSFTTrainer(FiniteMixin, SFTTrainer):  # type: ignore[misc]
    """``places``: where each training row is in its file, by ``key`` of its token ids."""

    def __init__(self, *args: Any, places: Mapping[int, str], **kwargs: Any) -> None:
        self.places = places
        super().__init__(*args, **kwargs)

    def rows_of(self, inputs: Any) -> list[str]:
        """The places of a batch's rows; of packed ones that are whole in it."""
        found = []
        for i, row in enumerate(inputs["input_ids"].tolist()):
            mask, positions = inputs.get("attention_mask"), inputs.get("position_ids")
            ids = [t for t, keep in zip(row, mask[i].tolist(), strict=True) if keep] if mask is not None else row
            begins = [0]
            if positions is not None and mask is None:
                begins = [k for k, position in enumerate(positions[i].tolist()) if position == 0]
            for begin, end in zip(begins, [*begins[1:], len(ids)], strict=True):
                found.append(self.places.get(key(ids[begin:end]), "a row cut by packing"))
        return found

    def _get_train_sampler(self, train_dataset: Any = None) -> Any:
        if self.args.packing:
            return super()._get_train_sampler(train_dataset)
        rows = self.train_dataset if train_dataset is None else train_dataset
        batch = self.args.per_device_train_batch_size * self.accelerator.num_processes
        return BucketSampler([len(ids) for ids in rows["input_ids"]], batch, self.args.seed)


def key(ids: list[int]) -> int:
    """What stands for a row's token ids in ``places``."""
    return hash(tuple(ids))
