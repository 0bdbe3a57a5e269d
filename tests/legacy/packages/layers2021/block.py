import torch
from .linear import linear
from .norm import norm


class FeedForward(torch.nn.Module):
    """x + W2 act(W1 norm(x + residual)), and what comes before the norm"""

    def __init__(self, features, hidden, activation='gelu', rms=False):
        super(FeedForward, self).__init__()
        self.activation = activation
        self.scale = torch.nn.Parameter(torch.ones(features))
        self.shift = None if rms else torch.nn.Parameter(torch.zeros(features))
        self.w1 = torch.nn.Parameter(torch.randn(hidden, features) * features ** -0.5)
        self.b1 = torch.nn.Parameter(torch.zeros(hidden))
        self.w2 = torch.nn.Parameter(torch.randn(features, hidden) * hidden ** -0.5)

    def forward(self, x, residual):
        y, x = norm(x, self.scale, self.shift, residual)
        return x + linear(linear(y, self.w1, self.b1, self.activation), self.w2)
