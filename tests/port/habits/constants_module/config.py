import torch

NUM_WARPS = 2
PLUS, MINUS = 1, -1
TILES = {torch.float32: 16 * 2, torch.float16: 2 ** 6}
