#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Makes an experiment, as gpreempt-lab reads it, of a script's results.

usage: script_results.py RESULTS NEW

RESULTS has model_a_run_N, model_b_run_N and concurrent_run_N, each with the driver's text in
mqd_during_TIME.txt and hqd_during_TIME.txt (mqd_both_TIME.txt when both ran), and the PIDs in
model_a_pid.txt and model_b_pid.txt. NEW is for gpreempt-lab experiment --report-only. Pairs of
such files alone need no conversion: gpreempt-lab decode reads them.
"""
import pathlib
import re
import shutil
import sys

RUNS = {"a": "model_a_run_", "b": "model_b_run_", "both": "concurrent_run_"}


def pid_of(source, model, mqds):
    """Returns the script's PID, if that process has queues, else the only one with queues."""
    seen = set(re.findall(r"^Process (\d+) ", mqds, re.M))
    file = source / f"model_{model}_pid.txt"
    pid = file.read_text().strip() if file.exists() else ""
    return seen.pop() if len(seen) == 1 and pid not in seen else pid or "0"


def convert(source, kind, target):
    """Copies one run. Whether its program succeeded is unknown: status -1."""
    moment = "both" if kind == "both" else "during"
    during = target / "during"
    during.mkdir(parents=True)
    for role in ("mqd", "hqd"):
        shutil.copyfile(min(source.glob(f"{role}_{moment}*")), during / f"{role}s")
    mqds = (during / "mqds").read_text()
    models = "ab" if kind == "both" else kind
    result = [f"{model} pid {pid_of(source, model, mqds)} status -1\n" for model in models]
    (target / "result").write_text("".join(result))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    results, new = map(pathlib.Path, sys.argv[1:])
    count = {kind: len(list(results.glob(f"{name}*"))) for kind, name in RUNS.items()}
    new.mkdir(mode=0o700)
    for kind, name in RUNS.items():
        for i in range(count[kind]):
            convert(results / f"{name}{i + 1}", kind, new / f"{kind}-{i + 1}")
    models = "a -\nb -\n" if count["b"] or count["both"] else "a -\n"
    runs = max(count["a"], count["b"])
    (new / "experiment").write_text(f"runs {runs}\nconcurrent {count['both']}\n{models}")


if __name__ == "__main__":
    main()
