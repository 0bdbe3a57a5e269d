from .matmul import MatMul
from .softmax import Softmax


class Attention:
    """softmax(q k' * scale + masks) v where the layout has blocks; q, k and v are [batch, heads, rows, features]"""

    def __init__(self, layout, block, bench=0):
        self.qk = MatMul(layout, block, 'sdd', trans_a=False, trans_b=True, bench=bench)
        self.softmax = Softmax(layout, block, bench=bench)
        self.pv = MatMul(layout, block, 'dsd', bench=bench)

    def __call__(self, q, k, v, rpe=None, key_padding_mask=None, attn_mask=None,
                 key_padding_mask_mode='add', attn_mask_mode='add'):
        scale = float(q.size(3)) ** -0.5
        scores = self.qk(q, k)
        probs = self.softmax(scores, scale, rpe, key_padding_mask, attn_mask,
                             key_padding_mask_mode, attn_mask_mode)
        return self.pv(probs, v)

    def time(self):
        """nanoseconds of the last call, forward and backward"""
        return sum(t for op in (self.qk, self.softmax, self.pv) for t in op.times.values())
