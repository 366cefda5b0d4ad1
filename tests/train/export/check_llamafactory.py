"""Run by a Python that has LlamaFactory: its own code reads what ``ct_train.export llamafactory`` wrote.

    LLAMAFACTORY_PYTHON tests/train/export/check_llamafactory.py EXPORT_FOLDER MODEL_FOLDER
"""

import json
import sys
from pathlib import Path

import yaml
from llamafactory.data import get_dataset, get_template_and_fix_tokenizer
from llamafactory.hparams import get_train_args
from llamafactory.model import load_tokenizer

folder, model = Path(sys.argv[1]).resolve(), sys.argv[2]
settings = yaml.safe_load((folder / "sft.yaml").read_text())
settings |= {"model_name_or_path": model, "bf16": False, "dataset_dir": str(folder), "output_dir": str(folder / "saves")}
model_args, data_args, training_args, _, _ = get_train_args(settings)
module = load_tokenizer(model_args)
tokenizer = module["tokenizer"]
template = get_template_and_fix_tokenizer(tokenizer, data_args)
rows = get_dataset(template, model_args, data_args, training_args, stage="sft", **module)["train_dataset"]
row = rows[0]
answer = tokenizer.decode([i for i in row["labels"] if i >= 0], skip_special_tokens=True)
print(json.dumps({"check": "data", "rows": len(rows), "answer": answer}))
