# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# An LLM as online work: time to the first token (TTFT) and of each further one (TPOT), what it
# costs offline, and how often guard preempts, for each way in which guard can treat the gaps
# between tokens. docs/measuring.md says what the figures are.
# vgpu: gpus=8 poll_ns=5000000
# clock: counted
# timeout: 1200
. /t/lib.sh
. /t/bench.sh

n=${BENCH_REQUESTS:-25}
opens=

# 25 packets of 2 ms, then 32 steps of 4 packets of 0.4 ms; half a second to the next: llm COUNT
llm() {
	online on 0 --packet "$(us 2000)" --burst 25 --every "$(us 500000)" \
		--steps "32,4,$(us 400),$(us 5000),$(us 20000)" --count $((153 * $1)) $opens
}

# The online tenant accepts that percentage as delay: cost PERCENT
cost() {
	cat > "$W/conf" <<-EOF
		policy linger=$(us 2000) period=$(us 1000000) window=$(us 10000000)
		tenant comm:serve online cost=$1%
		tenant comm:train min=10%
	EOF
	tenants="--config $W/conf"
	guarded "llm_cost_$1" llm "$n"
	tenants=$words
}

all() {
	alone llm "$n"
	unprotected llm "$n"
	for _ms in 2 25; do
		guarded llm_linger_$_ms llm "$n" --linger "$(us ${_ms}000)" --max-hold "$(us 1000000)"
	done
	words=$tenants
	for _percent in 1 2 5; do
		cost $_percent
	done
	opens=--online
	guarded llm_requests llm "$n" --linger "$(us 2000)" --max-hold "$(us 1000000)"
	echo complete
}

choose_dilation
save 100
# shellcheck disable=SC2034
STEPS=32
all | tee "$W/all"
grep -q '^complete$' "$W/all" || exit 1
awk -v n="$n" '{ v[$1] = $2 }
	END {
		split("unprotected linger_2 linger_25 cost_1 cost_2 cost_5 requests", names)
		for (i = 1; i in names; i++) {
			name = "llm_" names[i]
			for (k = 0; k < 4; k++) {
				key = (k < 2 ? "_ttft" : "_tpot") (k % 2 ? "_p99" : "_p50")
				printf "%s%s_ratio %.3f\n", name, key, v[name key "_us"] / v["llm_alone" key "_us"]
			}
			printf "%s_preemptions_a_request %.2f\n", name, v[name "_preemptions"] / n
			printf "%s_offline_percent %.1f\n", name, 100 * v[name "_offline_share"]
		}
	}' "$W/all"
