#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The driver's mqds and hqds, read and joined the way one would in Python.

    parse.py MQDS HQDS [RUNS]

Prints the best time of RUNS in milliseconds, and what it found. The C parser is
compared with this one (tests/bench/parse.sh).
"""
import re
import sys
import time

PROCESS = re.compile(r"Process (\d+) PASID (?:0x[0-9a-f]+|\d+):")
QUEUE = re.compile(r"  (Compute queue|SDMA queue|DIQ) on device ([0-9a-f]+)")
NODE = re.compile(r"Node (\d+), gpu_id ([0-9a-f]+):")
SLOT = re.compile(r" Inst (\d+),  CP Pipe (\d+), Queue (\d+)")
OTHER = re.compile(r"   Inst \d+, HIQ on|  SDMA Engine (\d+), RLC (\d+)")


def words(line):
    offset, rest = line.split(":")
    return int(offset, 16), [int(word, 16) for word in rest.split()]


def read_mqds(path):
    queues, pid = [], None
    with open(path) as file:
        for line in file:
            if line.startswith("    "):
                offset, found = words(line)
                if offset == 0:
                    queues[-1]["mqds"].append([])
                queues[-1]["mqds"][-1] += found
                continue
            match = PROCESS.match(line)
            if match:
                pid = int(match.group(1))
                continue
            match = QUEUE.match(line)
            queues.append({"pid": pid, "kind": match.group(1),
                           "gpu": int(match.group(2), 16), "mqds": []})
    return queues


def read_hqds(path):
    slots, gpu = [], None
    with open(path) as file:
        for line in file:
            if line.startswith("    "):
                slots[-1]["regs"] += words(line)[1]
                continue
            match = NODE.match(line)
            if match:
                gpu = int(match.group(2), 16)
                continue
            match = SLOT.match(line)
            if not match and not OTHER.match(line):
                raise ValueError(line)
            slots.append({"gpu": gpu, "cp": bool(match), "regs": []})
    return slots


def join(queues, slots):
    owners = {}
    for queue in queues:
        queue["slots"] = 0
        for mqd in queue["mqds"]:
            if queue["kind"] == "Compute queue":
                owners[queue["gpu"], mqd[129] << 32 | mqd[128]] = queue
    active = 0
    for slot in slots:
        regs = slot["regs"]
        if not slot["cp"] or not regs[2] & 1:
            continue
        active += 1
        owner = owners.get((slot["gpu"], regs[1] << 32 | regs[0]))
        if owner:
            owner["slots"] += 1
    return active, sum(queue["slots"] for queue in queues)


def main():
    best = None
    for _ in range(int(sys.argv[3]) if len(sys.argv) > 3 else 5):
        start = time.perf_counter()
        queues, slots = read_mqds(sys.argv[1]), read_hqds(sys.argv[2])
        active, owned = join(queues, slots)
        spent = (time.perf_counter() - start) * 1e3
        best = spent if best is None or spent < best else best
    print(f"{best:.3f} {len(queues)} {active} {owned}")


if __name__ == "__main__":
    main()
