"""A YOLO and a Florence-2 with random weights, small enough for a test, saved as the real ones are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import yaml

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ?. "
SPECIAL = ("<s>", "<pad>", "</s>", "<unk>", "<image>")


def make_detector(path: Path) -> Path:
    """Save YOLOv8, a sixteenth as wide, with one class, as a .pt file."""
    import ultralytics

    torch.manual_seed(3)
    shipped = Path(ultralytics.__file__).parent / "cfg" / "models" / "v8" / "yolov8.yaml"
    layers = yaml.safe_load(shipped.read_text(encoding="utf-8")) | {"nc": 1, "scales": {"n": [0.33, 0.0625, 256]}}
    config = path.with_name("yolov8n-tiny.yaml")
    config.write_text(yaml.safe_dump(layers), encoding="utf-8")
    ultralytics.YOLO(str(config)).save(path)
    return path


def make_captioner(folder: Path) -> Path:
    """Save a Florence-2 of one layer each way, with a tokenizer of letters and a processor for 64x64 pictures."""
    import transformers

    torch.manual_seed(3)
    model = transformers.Florence2ForConditionalGeneration(_config(transformers))
    # Whatever the weights say, the answer is letters: a caption that can be seen.
    model.generation_config.suppress_tokens = [at for at, sign in enumerate(SPECIAL) if sign != "</s>"]
    model.generation_config.min_new_tokens = 3
    model.save_pretrained(folder)
    images = transformers.CLIPImageProcessor(size={"height": 64, "width": 64}, do_center_crop=False, image_seq_length=5)
    transformers.Florence2Processor(image_processor=images, tokenizer=_tokenizer(transformers)).save_pretrained(folder)
    return folder


def _tokenizer(transformers: Any) -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers

    letters = Tokenizer(models.WordLevel({sign: at for at, sign in enumerate((*SPECIAL, *LETTERS))}, unk_token="<unk>"))
    letters.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=letters,
        bos_token="<s>",
        pad_token="<pad>",
        eos_token="</s>",
        unk_token="<unk>",
        extra_special_tokens={"image_token": "<image>"},
    )


def _config(transformers: Any) -> Any:
    text = {
        "model_type": "bart", "vocab_size": len(SPECIAL) + len(LETTERS), "d_model": 32, "encoder_layers": 1,
        "decoder_layers": 1, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "encoder_attention_heads": 2,
        "decoder_attention_heads": 2, "bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2,
        "decoder_start_token_id": 2, "forced_eos_token_id": 2,
    }  # fmt: skip
    vision = {
        "depths": [1, 1, 1, 1], "embed_dim": [8, 16, 16, 32], "num_heads": [1, 1, 1, 1], "num_groups": [1, 1, 1, 1],
        "window_size": 2, "projection_dim": 32,
    }  # fmt: skip
    return transformers.Florence2Config(image_token_id=4, text_config=text, vision_config=vision)
