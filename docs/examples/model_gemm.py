#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Matrix multiplications and nothing else: the least that keeps a queue busy.

Not run on our machines, which have no GPU; checked for syntax. On a host with
ROCm and PyTorch, with the runtime's log taken apart afterwards:

    AMD_LOG_LEVEL=5 python3 model_gemm.py --seconds 5 2> amd.log
    gpreempt-lab amdlog amd.log
    gpreempt-lab self -- python3 model_gemm.py
"""
import argparse
import os
import time

import torch


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--size", type=int, default=3000)
    args = parser.parse_args()
    print(f"pid {os.getpid()}", flush=True)
    a = torch.randn(args.size, args.size, device="cuda")
    b = torch.randn(args.size, args.size, device="cuda")
    count, start = 0, time.monotonic()
    while time.monotonic() - start < args.seconds:
        torch.mm(a, b)
        torch.cuda.synchronize()
        count += 1
    spent = time.monotonic() - start
    print(f"multiplications {count} TFLOP/s "
          f"{2 * args.size ** 3 * count / spent / 1e12:.2f}")


if __name__ == "__main__":
    main()
