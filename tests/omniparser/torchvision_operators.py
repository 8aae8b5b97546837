"""torchvision's `nms`, in torch: the CPU build of torch cannot load the compiled operators of a CUDA torchvision wheel.

Import this before anything imports torchvision.
"""

from __future__ import annotations

import torch

_LIBRARY = torch.library.Library("torchvision", "DEF")
_SCHEMA = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"


def _area(boxes: torch.Tensor) -> torch.Tensor:
    return (boxes[..., 2:] - boxes[..., :2]).prod(-1)


def nms(dets: torch.Tensor, scores: torch.Tensor, iou_threshold: float) -> torch.Tensor:
    """Return the indices of the boxes that stay, best first."""
    left, kept = scores.argsort(descending=True), []
    while left.numel():
        best, rest = left[0], left[1:]
        kept.append(int(best))
        upper, lower = torch.maximum(dets[best, :2], dets[rest, :2]), torch.minimum(dets[best, 2:], dets[rest, 2:])
        common = (lower - upper).clamp(min=0).prod(-1)
        left = rest[common / (_area(dets[best]) + _area(dets[rest]) - common) <= iou_threshold]
    return torch.tensor(kept, dtype=torch.int64)


for name in ("nms", "qnms"):
    _LIBRARY.define(name + _SCHEMA)
_LIBRARY.impl("nms", nms, "CPU")

import torchvision.ops.boxes  # noqa: E402 - only now: it asks for the operators when it is imported

torchvision.ops.boxes._assert_has_ops = lambda: None
