#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Makes what gpreempt-lab reads of a script's results: an experiment, or snapshots.

usage: script_results.py RESULTS NEW

For gpreempt-lab experiment --report-only RESULTS has model_a_run_N, model_b_run_N and concurrent_run_N, each with the driver's text in
mqd_during_TIME.txt and hqd_during_TIME.txt (mqd_both_TIME.txt when both ran), and the PIDs in
model_a_pid.txt and model_b_pid.txt. Else it has files whose names differ in mqd and hqd, and in
the time behind it (snapshot_mqd_1_TIME.txt, snapshot_hqd_1_TIME.txt): each pair becomes a
snapshot, for gpreempt-lab decode. Such text has no queue ids.
"""
import collections
import itertools
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


def convert_pairs(source, new):
    """Makes a snapshot of each pair. The name keeps the time of its mqds."""
    files = collections.defaultdict(lambda: {"mqd": [], "hqd": []})
    for file in sorted(source.glob("*[mh]qd*")):
        if "summary" not in file.name:
            role = "mqd" if "mqd" in file.name else "hqd"
            files[re.sub(role + "s?|([_-][0-9]{6,})+$", "", file.stem)][role].append(file)
    for pair in files.values():
        for of in itertools.zip_longest(pair["mqd"], pair["hqd"]):
            name = re.sub("_?[mh]qds?", "", (of[0] or of[1]).stem).strip("_")
            (new / (name or "moment")).mkdir()
            for role, file in zip(("mqds", "hqds"), of):
                if file:
                    shutil.copyfile(file, new / (name or "moment") / role)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    results, new = map(pathlib.Path, sys.argv[1:])
    count = {kind: len(list(results.glob(f"{name}*"))) for kind, name in RUNS.items()}
    new.mkdir(mode=0o700)
    if not count["a"]:
        convert_pairs(results, new)
        return
    for kind, name in RUNS.items():
        for i in range(count[kind]):
            convert(results / f"{name}{i + 1}", kind, new / f"{kind}-{i + 1}")
    models = "a -\nb -\n" if count["b"] or count["both"] else "a -\n"
    runs = max(count["a"], count["b"])
    (new / "experiment").write_text(f"runs {runs}\nconcurrent {count['both']}\n{models}")


if __name__ == "__main__":
    main()
