"""A model that sees whether a picture is bright, written as GGUF files: its weights are set, nobody trained them.

The text model is a llama of one layer. Each token is a direction of its own; the output names the token that follows
it. Attention of the last token of the prompt looks for the picture and adds its brightness to the choice between YES
and NO. The picture's model (Gemma 3's form) makes one token of a picture, from the mean of its pixels.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gguf
import numpy as np

_WIDTH = 512
_HEADS = 8
_PICTURE, _BRIGHT = _WIDTH - 1, _WIDTH - 2
"""Directions of no token: that a token is a picture, and how bright it is."""
_NORMAL, _UNKNOWN, _CONTROL, _BYTE = 1, 2, 3, 6
_SPECIAL = ("<unk>", "<s>", "</s>")
_WORDS = ("YES:", "▁the▁picture▁is▁bright", "NO:", "▁the▁picture▁is▁dark", "▁I▁ponder")
_TOKENS = (*_SPECIAL, *(f"<0x{byte:02X}>" for byte in range(256)), *_WORDS)
_END = _TOKENS.index("</s>")
_YES, _IS_BRIGHT, _NO, _IS_DARK, _PONDERS = range(len(_TOKENS) - len(_WORDS), len(_TOKENS))
_ANSWERS, _THINKS = (_TOKENS.index(f"<0x{ord(sign):02X}>") for sign in "!?")
"""How a prompt ends that asks for an answer at once, and one that lets the model think first."""
_TEMPLATE = (
    "{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant{{ '!' if enable_thinking is false else '?' }}{% endif %}"
)
_VIEW_PX, _PATCH_PX, _EYE = 64, 16, 32
_LEAST = 0.2425
"""What counts as bright: b / sqrt(1 + b²) for a mean of b = 1/4. The server makes pictures square with black bars: a
white one of 16:9 has 9/16."""


def write(folder: Path) -> None:
    """Write the text model as eye.gguf and the picture's as mmproj.gguf."""
    _write_text_model(folder / "eye.gguf")
    _write_picture_model(folder / "mmproj.gguf")


def _write_text_model(path: Path) -> None:
    file = gguf.GGUFWriter(str(path), "llama")
    file.add_context_length(8192)
    file.add_embedding_length(_WIDTH)
    file.add_block_count(1)
    file.add_feed_forward_length(_EYE)
    file.add_head_count(_HEADS)
    file.add_head_count_kv(_HEADS)
    file.add_layer_norm_rms_eps(1e-6)
    file.add_rope_dimension_count(_WIDTH // _HEADS)
    file.add_rope_freq_base(1e12)  # the last pair of a head hardly turns: it finds the picture at any distance
    file.add_vocab_size(len(_TOKENS))
    file.add_tokenizer_model("llama")
    file.add_token_list(list(_TOKENS))
    file.add_token_scores([0.0] * len(_TOKENS))
    file.add_token_types([_UNKNOWN, _CONTROL, _CONTROL, *[_BYTE] * 256, *[_NORMAL] * len(_WORDS)])
    file.add_bos_token_id(_TOKENS.index("<s>"))
    file.add_eos_token_id(_END)
    file.add_unk_token_id(0)
    file.add_add_space_prefix(False)
    file.add_chat_template(_TEMPLATE)
    query, key, value, out = (_zeros(_WIDTH, _WIDTH) for _ in range(4))
    last = _WIDTH // _HEADS - 2
    query[last, _ANSWERS] = query[last, _THINKS] = key[last, _PICTURE] = 3.0
    value[0, _BRIGHT] = out[_BRIGHT, 0] = 1.0
    weights = {
        "token_embd": np.eye(len(_TOKENS), _WIDTH, dtype=np.float32), "output": _following(),
        "output_norm": np.ones(_WIDTH, np.float32), "blk.0.attn_norm": np.ones(_WIDTH, np.float32),
        "blk.0.attn_q": query, "blk.0.attn_k": key, "blk.0.attn_v": value, "blk.0.attn_output": out,
        "blk.0.ffn_norm": np.ones(_WIDTH, np.float32), "blk.0.ffn_gate": _zeros(_EYE, _WIDTH),
        "blk.0.ffn_up": _zeros(_EYE, _WIDTH), "blk.0.ffn_down": _zeros(_WIDTH, _EYE),
    }  # fmt: skip
    _finish(file, {f"{name}.weight": one for name, one in weights.items()})


def _following() -> Any:
    """Return the output's weights: which token follows each."""
    follows = _zeros(len(_TOKENS), _WIDTH)
    for before, after in ((_YES, _IS_BRIGHT), (_NO, _IS_DARK), (_THINKS, _PONDERS)):
        follows[after, before] = 1000.0
    for before in (_IS_BRIGHT, _IS_DARK, _PONDERS):
        follows[_END, before] = 1000.0
    follows[_YES, _BRIGHT] = 10.0
    follows[_NO, _ANSWERS] = 10.0 * _LEAST * _WIDTH**0.5
    return follows


def _write_picture_model(path: Path) -> None:
    file = gguf.GGUFWriter(str(path), "clip")
    file.add_type("mmproj")
    file.add_bool("clip.has_vision_encoder", True)
    file.add_string("clip.projector_type", "gemma3")
    file.add_bool("clip.use_gelu", True)
    side = _VIEW_PX // _PATCH_PX
    sizes = {
        "embedding_length": _EYE, "feed_forward_length": _EYE, "block_count": 1, "projection_dim": _WIDTH,
        "attention.head_count": 1, "image_size": _VIEW_PX, "patch_size": _PATCH_PX, "projector.scale_factor": side,
    }  # fmt: skip
    for name, size in sizes.items():
        file.add_uint32(f"clip.vision.{name}", size)
    file.add_float32("clip.vision.attention.layer_norm_epsilon", 1e-6)
    file.add_array("clip.vision.image_mean", [0.0] * 3)
    file.add_array("clip.vision.image_std", [1.0] * 3)
    patch, bias, projection = _zeros(_EYE, 3, _PATCH_PX, _PATCH_PX), _zeros(_EYE), _zeros(_EYE, _WIDTH)
    bias[0] = 1.0
    patch[1] = 1.0 / patch[1].size
    projection[0, _PICTURE] = projection[1, _BRIGHT] = 1.0
    weights = {
        "v.patch_embd.weight": patch, "v.patch_embd.bias": bias, "v.position_embd.weight": _zeros(side * side, _EYE),
        "mm.input_projection.weight": projection, "mm.soft_emb_norm.weight": np.ones(_EYE, np.float32),
    }  # fmt: skip
    for name in ("attn_q", "attn_k", "attn_v", "attn_out", "ffn_up", "ffn_down"):
        weights |= {f"v.blk.0.{name}.weight": _zeros(_EYE, _EYE), f"v.blk.0.{name}.bias": _zeros(_EYE)}
    for name in ("ln1", "ln2"):
        weights |= {f"v.blk.0.{name}.weight": np.ones(_EYE, np.float32), f"v.blk.0.{name}.bias": _zeros(_EYE)}
    _finish(file, weights)


def _zeros(*shape: int) -> Any:
    return np.zeros(shape, np.float32)


def _finish(file: Any, weights: dict[str, Any]) -> None:
    for name, one in weights.items():
        file.add_tensor(name, one)
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()
