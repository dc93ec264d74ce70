#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Model B: training of a small Transformer, the work that can wait.

Not run on our machines, which have no GPU; checked for syntax. On a host with
ROCm and PyTorch:

    gpreempt-ctl run --offline -- python3 model_offline_transformer.py
    gpreempt-ctl preempt cmd:model_offline_transformer --count 100
"""
import argparse
import os
import time

import torch
from torch import nn


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--batch", type=int, default=64)
    args = parser.parse_args()
    print(f"pid {os.getpid()}", flush=True)
    layer = nn.TransformerEncoderLayer(d_model=512, nhead=8, batch_first=True)
    model = nn.TransformerEncoder(layer, num_layers=6).cuda().train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    steps, end = 0, time.monotonic() + args.seconds
    start = time.monotonic()
    while time.monotonic() < end:
        x = torch.randn(args.batch, 128, 512, device="cuda")
        loss = (model(x) - x).pow(2).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        torch.cuda.synchronize()
        steps += 1
        if steps % 20 == 0:
            print(f"step {steps} loss {loss.item():.4f}", flush=True)
    print(f"steps {steps} a second {steps / (time.monotonic() - start):.2f}")


if __name__ == "__main__":
    main()
