#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Model A: inference with a small CNN, the work that must not wait.

Not run on our machines, which have no GPU; checked for syntax. On a host with
ROCm and PyTorch:

    gpreempt-ctl run --online -- python3 model_online_cnn.py --seconds 30
    gpreempt-lab experiment --a "python3 model_online_cnn.py" \\
        --b "python3 model_offline_transformer.py"
"""
import argparse
import os
import time

import torch
from torch import nn


def make_model():
    return nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64 * 56 * 56, 10)).cuda().eval()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--period-ms", type=float, default=20)
    args = parser.parse_args()
    print(f"pid {os.getpid()}", flush=True)
    model = make_model()
    times = []
    end = time.monotonic() + args.seconds
    with torch.no_grad():
        while time.monotonic() < end:
            start = time.monotonic()
            model(torch.randn(8, 3, 224, 224, device="cuda"))
            torch.cuda.synchronize()
            times.append((time.monotonic() - start) * 1e3)
            time.sleep(max(0, args.period_ms / 1e3 - (time.monotonic() - start)))
    times.sort()
    print(f"requests {len(times)} p50 {times[len(times) // 2]:.2f} ms "
          f"p99 {times[len(times) * 99 // 100]:.2f} ms max {times[-1]:.2f} ms")


if __name__ == "__main__":
    main()
