#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A policy for guard: the tenant that has used least, but none waits for over a second.

    gpreempt-ctl guard --config FILE --policy 'exec python3 policy.py'
"""
import json
import sys

for line in sys.stdin:
    facts = json.loads(line)
    used, waited = {}, {}
    for node in facts["nodes"]:
        for t in node["tenants"]:
            name = t["tenant"]
            used[name] = used.get(name, 0) + t["used_us"]
            waited[name] = max(waited.get(name, 0), t["waited_us"])
    order = sorted(used, key=lambda name: (waited[name] < 1_000_000, used[name]))
    print(json.dumps({"question": facts["question"], "order": order}), flush=True)
