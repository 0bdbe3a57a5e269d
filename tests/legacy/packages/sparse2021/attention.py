import torch
from .matmul import MatMul
from .softmax import Softmax


class Attention(torch.nn.Module):
    """softmax(q k' * scale + masks) v where the layout has blocks; q, k and v are [batch, heads, rows, features]"""

    def __init__(self, layout, block):
        super(Attention, self).__init__()
        self.qk = MatMul(layout, block, 'sdd', trans_a=False, trans_b=True)
        self.softmax = Softmax(layout, block)
        self.pv = MatMul(layout, block, 'dsd')

    def forward(self, q, k, v, rpe=None, key_padding_mask=None, attn_mask=None,
                key_padding_mask_mode='add', attn_mask_mode='add'):
        scale = float(q.size(3)) ** -0.5
        scores = self.qk(q, k)
        probs = self.softmax(scores, scale, rpe, key_padding_mask, attn_mask,
                             key_padding_mask_mode, attn_mask_mode)
        return self.pv(probs, v)
