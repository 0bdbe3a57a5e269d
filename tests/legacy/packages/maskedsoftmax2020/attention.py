import torch
from .softmax import Softmax


class MultiheadSoftmax(torch.nn.Module):
    """the softmax of an attention with a learned bias for each distance between a query and a key"""

    def __init__(self, layout, block, features, causal=False):
        super(MultiheadSoftmax, self).__init__()
        heads, rows, cols = layout.shape
        self.softmax = Softmax(layout, block, causal=causal)
        self.scale = float(features) ** -0.5
        self.rows, self.cols = rows * block, cols * block
        # distances from -(cols - 1) to rows - 1
        self.bias = torch.nn.Parameter(torch.zeros(heads, self.rows + self.cols - 1))

    def forward(self, scores, key_padding_mask=None):
        i = torch.arange(self.rows, device=scores.device)
        j = torch.arange(self.cols, device=scores.device)
        rpe = self.bias[:, i[:, None] - j[None, :] + self.cols - 1].to(scores.dtype)
        return self.softmax(scores, scale=self.scale, rpe=rpe, key_padding_mask=key_padding_mask,
                            key_padding_mask_mode='mul')
