// SPDX-License-Identifier: GPL-2.0-only
// Shows the data of the page. Names in it are hostile: all text goes through textContent.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const unknown = "\u2013";

function el(name, options, ...children) {
	const node = document.createElement(name);
	for (const [key, value] of Object.entries(options || {}))
		if (value !== null && value !== undefined && value !== false)
			node.setAttribute(key, value === true ? "" : value);
	node.append(...children.filter((c) => c !== null && c !== undefined));
	return node;
}

const list = (v) => Array.isArray(v) ? v : [];
const rows = (v) => list(v).filter((r) => r && typeof r === "object");
const is = (v) => v !== null && v !== undefined && v !== "";
const text = (v) => !is(v) ? unknown : Array.isArray(v) ? v.map(String).join(", ") : String(v);

function time(us) {
	if (typeof us !== "number")
		return unknown;
	const a = Math.abs(us);
	return a < 1000 ? `${us.toFixed(1)} \u00b5s` : a < 1e6 ? `${(us / 1000).toFixed(2)} ms` :
		`${(us / 1e6).toFixed(3)} s`;
}

function size(bytes) {
	if (typeof bytes !== "number")
		return unknown;
	const units = ["B", "KiB", "MiB", "GiB", "TiB"];
	let i = 0;
	for (; bytes >= 1024 && i < units.length - 1; i++)
		bytes /= 1024;
	return `${i ? bytes.toFixed(1) : bytes} ${units[i]}`;
}

// A column is a heading, a value of the row, and how its cell looks.
function table(id, columns, all, empty) {
	if (!all.length)
		return el("p", { class: "dim", id }, empty);
	const used = columns.filter((c) => !c.spare || all.some((r) => is(c.value(r))));
	const head = el("tr", {}, ...used.map((c) => el("th", { scope: "col", class: c.class === "number" ? "number" : null }, c.head)));
	const body = all.map((row) => el("tr", {}, ...used.map((c) => {
		const value = c.value(row);
		return el("td", { class: [c.class, c.tone ? c.tone(value) : null].filter(Boolean).join(" ") || null },
			(c.show || text)(value));
	})));
	return el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": id },
		el("table", { id }, el("thead", {}, head), el("tbody", {}, ...body)));
}

const column = (head, key, more) => ({ head, value: (r) => r[key], ...more });
const number = { class: "number" }, spare = { class: "number", spare: true };

function section(title, ...parts) {
	if (!parts.some(Boolean))
		return null;
	const id = title.toLowerCase().replace(/[^a-z]+/g, "-");
	return el("section", { "aria-labelledby": id }, el("h2", { id }, title), ...parts);
}

const stateTones = { __proto__: null, active: "good", suspended: "warn", "partly-suspended": "warn", evicted: "warn" };

function gpus(state, i) {
	if (state.gpus === undefined)
		return null;
	const here = (gpu) => rows(state.processes).filter((p) => list(p.gpus).includes(gpu.gpu_id));
	return section("GPUs", state.gpus === null ? el("p", { class: "warn" }, "The GPUs are unknown: they could not be read.") :
		table(`gpus-${i}`, [
			column("GPU", "gpu_id", { class: "code" }), column("Device", "device", { class: "code" }),
			column("gfx", "gfx", number), column("XCCs", "xccs", number),
			{ head: "Slots used", class: "number", value: (g) => is(g.slots_used) ? `${g.slots_used} of ${text(g.slots)}` : null },
			column("Queues", "queues", number),
			{ head: "Processes on it", class: "text", value: (g) => here(g).map((p) =>
				`${text(p.pid)} ${text(p.command).split(" ")[0].split("/").pop()}${is(p.state) ? ` (${p.state})` : ""}`) .join(", ") ||
				(state.processes ? "none has queues here" : null) },
		], rows(state.gpus), "There is no GPU."));
}

function processes(state, i) {
	if (state.processes === undefined)
		return null;
	if (state.processes === null)
		return section("Processes", el("p", { class: "warn" }, "The processes are unknown: they could not be read."));
	return section("Processes", table(`processes-${i}`, [
		column("PID", "pid", number),
		{ head: "Command", class: "text", value: (p) => p.command },
		column("State", "state", { tone: (s) => stateTones[s] }),
		{ head: "Held by", spare: true, value: (p) => is(p.held_by) ? `${text(p.held_by)}${is(p.held_as) ? ` (${p.held_as})` : ""}` : null },
		column("GPUs", "gpus", { class: "code" }), column("Queues", "queues", number),
		{ head: "Slots", class: "number", value: (p) => is(p.active) ? `${p.active} of ${text(p.slots)}` : null },
		column("Waves", "waves", spare), column("VRAM", "vram", { ...number, show: size }),
		column("User", "user"), column("Container", "container", { spare: true }),
	], rows(state.processes), "No process uses the GPU."));
}

function holders(state, i) {
	if (state.holders === undefined)
		return null;
	if (state.holders === null)
		return section("Held processes", el("p", { class: "warn" }, "Unknown: who holds whom could not be read."));
	return section("Held processes", table(`holders-${i}`, [
		column("PID", "pid", number), column("Role", "role"), column("How", "how"), column("Holder", "holder", number),
		column("Guardian", "guardian", spare), column("Queues", "queues", number), column("Since", "since"), column("Lease", "lease"),
		column("Release with", "release_with", { class: "code" }),
	], rows(state.holders), "Nothing is held."));
}

const results = { __proto__: null, failed: ["bad", "\u2717 "], unknown: ["warn", "? "], warning: ["warn", "! "], note: ["note", "i "], ok: ["good", "\u2713 "] };

function checks(state, i) {
	if (state.checks === undefined)
		return null;
	if (state.checks === null)
		return section("Findings of doctor", el("p", { class: "warn" }, "Unknown: doctor could not look."));
	const order = Object.keys(results), place = (c) => (order.indexOf(c.result) + order.length + 1) % (order.length + 1);
	const sorted = rows(state.checks).slice().sort((a, b) => place(a) - place(b));
	return section("Findings of doctor", table(`checks-${i}`, [
		column("Result", "result", { tone: (v) => (results[v] || [""])[0], show: (v) => ((results[v] || ["", ""])[1]) + text(v) }),
		column("Check", "check"), column("Found", "text", { class: "text" }), column("What to do", "next", { class: "text", spare: true }),
	], sorted, "doctor said nothing."));
}

// Colours of the page as it is now, light or dark.
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const charts = [];
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => charts.forEach((c) => c.repaint()));

// The parts that all charts have: a place, buttons and keys for the zoom, a line of text.
function chart(name, height, whole, label, make, again = () => ({})) {
	const place = el("div", { class: "chart", tabindex: 0, role: "group", "aria-roledescription": "chart", "aria-label": name });
	const said = el("output", { "aria-live": "polite" }), range = el("span", { class: "dim" });
	place.style.height = `${height}px`;
	let graph = null;
	const zoom = (factor, shift) => {
		const [a, b] = graph.xAxisRange(), middle = (a + b) / 2 + shift * (b - a), half = (b - a) * factor / 2;
		const from = Math.max(whole[0], middle - half);
		graph.updateOptions({ dateWindow: [from, Math.min(whole[1], Math.max(middle + half, from + 2 * half))] });
	};
	const actions = { "+": ["Zoom in", () => zoom(0.5, 0)], "-": ["Zoom out", () => zoom(2, 0)],
		ArrowLeft: ["\u2190 Earlier", () => zoom(1, -0.25)], ArrowRight: ["Later \u2192", () => zoom(1, 0.25)],
		0: ["Whole", () => graph.updateOptions({ dateWindow: whole.slice() })] };
	place.addEventListener("keydown", (event) => {
		const action = actions[event.key === "=" ? "+" : event.key];
		if (!action || event.ctrlKey || event.metaKey || event.altKey)
			return;
		event.preventDefault();
		action[1]();
	});
	const buttons = Object.values(actions).map(([label, run]) => {
		const button = el("button", { type: "button" }, label);
		button.addEventListener("click", run);
		return button;
	});
	// It takes its width from the page, so it is made when it is in the page.
	charts.push({ start: () => {
		graph = make(place, said, (g) => {
			const [a, b] = g.xAxisRange();
			range.textContent = a <= whole[0] && b >= whole[1] ? `all of it: ${label(b - a)}` : `${label(a)} to ${label(b)}`;
		});
	}, repaint: () => graph && graph.updateOptions(again()) });
	return el("div", {}, place, el("div", { class: "tools" }, ...buttons, range, said));
}

// A finger scrolls the page, also over a chart that is higher than the screen.
const { touchstart, touchmove, touchend, ...mouse } = Dygraph.defaultInteractionModel;

const common = (whole, label) => ({
	interactionModel: mouse,
	legend: "never", dateWindow: whole.slice(), xRangePad: 0, gridLineColor: "#8884", axisLineColor: "#8888",
	rightGap: 8, animatedZooms: false, highlightCircleSize: 3,
	axes: { x: { axisLabelFormatter: label, pixelsPerLabel: 70, axisLabelWidth: 70 } },
});

// Events become lanes; a span is [from, to, kind] in us.
function lanes(t) {
	const all = [], open = new Map(), notes = [];
	const lane = (event) => {
		if (!open.has(event.pid)) {
			open.set(event.pid, { pid: event.pid, comm: event.comm, online: event.role === "online" || event.event === "busy",
				since: event.t_us, until: null, begun: null, spans: [] });
			all.push(open.get(event.pid));
		}
		return open.get(event.pid);
	};
	const end = (l, us) => {
		if (l.begun !== null && us > l.begun)
			l.spans.push([l.begun, us, l.online ? "busy" : "held"]);
		l.begun = null;
	};
	const takes = {
		joined: (l, e) => { l.online = e.role === "online"; l.comm = e.comm; },
		left: (l, e) => { end(l, e.t_us); l.until = e.t_us; open.delete(e.pid); },
		busy: (l, e) => { l.begun = l.begun ?? e.t_us; }, suspend: (l, e) => { l.begun = l.begun ?? e.t_us; },
		idle: (l, e) => end(l, e.t_us), resume: (l, e) => end(l, e.t_us),
		ran: (l, e) => l.spans.push([Math.max(0, e.t_us - e.ran_us), e.t_us, "ran"]),
	};
	for (const e of rows(t.events))
		if (Object.hasOwn(takes, e.event) && is(e.pid))
			takes[e.event](lane(e), e);
		else
			notes.push(e);
	for (const l of all) {
		if (l.until === null)
			end(l, t.to_us);
		l.until = l.until ?? t.to_us;
	}
	return { lanes: all.sort((a, b) => b.online - a.online), notes };
}

const ROW = 46, BAR = 20, SPANS = 40;
const kinds = { busy: ["busy", 0, BAR], held: ["held", BAR / 2 - 4, 8], ran: ["ran", 3, BAR - 6] };

function drawLanes(all, shown, context, area, graph) {
	const from = graph.toDataXCoord(area.x), to = graph.toDataXCoord(area.x + area.w);
	const x = (us) => Math.min(Math.max(graph.toDomXCoord(us), area.x), area.x + area.w);
	const bar = (a, b, top, kind) => {
		context.fillStyle = colour(kind[0]);
		context.fillRect(x(a), top + kind[1], Math.max(x(b) - x(a), 0.6), kind[2]);
	};
	context.textBaseline = "alphabetic";
	context.font = "12px system-ui, sans-serif";
	all.forEach((l, i) => {
		const top = area.y + i * ROW + 20;
		context.fillStyle = colour("text");
		context.fillText(shown(l), area.x + 2, top - 5, area.w - 4);
		// Offline runs where it is not held; of online nothing is known there.
		if (l.until < from || l.since > to)
			return;
		let at = l.since;
		for (const [a, b, kind] of l.spans) {
			if (!l.online && kind === "held") {
				if (a > from && at < to)
					bar(at, a, top, ["runs", 0, BAR]);
				at = b;
			}
			if (b >= from && a <= to)
				bar(a, b, top, kinds[kind]);
		}
		if (!l.online && at < l.until)
			bar(at, l.until, top, ["runs", 0, BAR]);
		if (l.online) {
			context.fillStyle = colour("line");
			context.fillRect(x(l.since), top + BAR, x(l.until) - x(l.since), 1);
		}
	});
}

const words = { busy: "has work", held: "is suspended", ran: "ran although it was to be suspended", runs: "may run", idle: "has no work that was seen" };

// What a lane does at a time: the narrowest span that is there.
function spanAt(l, us) {
	if (us < l.since || us > l.until)
		return null;
	let found = null, from = l.since, to = l.until;
	for (const s of l.spans) {
		if (s[0] <= us && us <= s[1])
			found = !found || s[2] === "ran" ? s : found;
		else if (s[1] < us)
			from = Math.max(from, s[1]);
		else
			to = Math.min(to, s[0]);
	}
	return found || [from, to, l.online ? "idle" : "runs"];
}

function timeline(t, i) {
	const { lanes: every, notes } = lanes(t), all = every.slice(0, 64);
	const first = t.cut_events ? (rows(t.events)[0] || { t_us: 0 }).t_us : 0;
	const whole = [first, Math.max(t.to_us, first + 1)];
	// A long run begins with its last part: as much as one can see.
	const ends = all.flatMap((l) => l.spans.map((s) => s[0])).sort((a, b) => a - b);
	const begins = ends.length > SPANS ? [ends[ends.length - SPANS], whole[1]] : whole.slice();
	const shown = (l) => `${text(l.pid)}${is(l.comm) ? ` ${l.comm}` : ""} \u2013 ${l.online ? "online" : "offline"}`;
	const sum = (l, kind) => l.spans.filter((s) => s[2] === kind).reduce((n, s) => n + s[1] - s[0], 0);
	const count = (l, kind) => l.spans.filter((s) => s[2] === kind).length;
	const key = (kind, label, thin) => {
		const mark = el("i", { class: thin ? "thin" : null });
		mark.style.background = `var(--${kind})`;
		return el("li", {}, mark, label);
	};
	const graph = chart(`Timeline of ${all.length} processes; the table below has the figures`, all.length * ROW + 34, whole, time, (place, said, drawn) => {
		const g = new Dygraph(place, [[whole[0], 0], [whole[1], 0]], {
			...common(whole, time), labels: ["us", "none"], dateWindow: begins, drawCallback: drawn, colors: ["#0000"], valueRange: [0, 1],
			axes: { x: common(whole, time).axes.x, y: { drawAxis: false, drawGrid: false, axisLabelWidth: 0 } },
			drawPoints: false, highlightCircleSize: 0, underlayCallback: (...args) => drawLanes(all, shown, ...args),
		});
		const point = (event) => {
			const box = place.getBoundingClientRect(), l = all[Math.floor((event.clientY - box.top) / ROW)];
			const span = l && spanAt(l, g.toDataXCoord(event.clientX - box.left));
			said.textContent = !span ? "" : `${shown(l)} ${words[span[2]]} for ${time(span[1] - span[0])}, from ${time(span[0])} to ${time(span[1])}`;
		};
		place.addEventListener("pointermove", point);
		place.addEventListener("pointerdown", point);
		return g;
	});
	const lost = [[t.cut_events, "older events are not shown"], [t.lost_lines, "events were not written"],
		[t.unread_lines, "lines are no events"], [every.length - all.length, "processes have no lane"]].filter(([n]) => n > 0);
	return el("div", { class: "card" }, el("h3", {}, text(t.source)),
		el("ul", { class: "keys" }, key("busy", "online has work"), key("runs", "offline may run"), key("held", "offline is suspended", true),
			every.some((l) => count(l, "ran")) ? key("ran", "ran although it was to be suspended") : null),
		...lost.map(([n, what]) => el("p", { class: "warn" }, `${n} ${what}.`)), graph,
		table(`lanes-${i}`, [
			column("PID", "pid", number), column("Name", "comm"), { head: "Role", value: (l) => l.online ? "online" : "offline" },
			{ head: "There for", class: "number", value: (l) => l.until - l.since, show: time },
			{ head: "Times busy", ...spare, value: (l) => l.online ? count(l, "busy") : null },
			{ head: "Busy", ...spare, value: (l) => l.online ? sum(l, "busy") : null, show: time },
			{ head: "Times suspended", ...spare, value: (l) => l.online ? null : count(l, "held") },
			{ head: "Suspended", ...spare, value: (l) => l.online ? null : sum(l, "held"), show: time },
			{ head: "Ran all the same", ...spare, value: (l) => sum(l, "ran") || null, show: time },
		], every, "No process was a target."),
		notes.length ? el("details", {}, el("summary", {}, `What guard said besides (${notes.length})`),
			table(`notes-${i}`, [column("At", "t_us", { ...number, show: time }), column("Event", "event"), column("Text", "text", { class: "text" })],
				notes.slice(-500), "")) : null);
}

function series(s, i) {
	const points = list(s.points), names = list(s.columns).map(String);
	if (!points.length)
		return null;
	const tones = ["runs", "dim", "ran", "busy"], whole = [points[0][0], Math.max(points[points.length - 1][0], points[0][0] + 1e-3)];
	const keys = names.slice(1).map((name, n) => {
		const mark = el("i", {});
		mark.style.background = `var(--${tones[n % tones.length]})`;
		return el("li", {}, mark, name);
	});
	const seconds = (v) => `${Number(v.toFixed(3))} s`;
	const graph = chart(`Samples of process ${text(s.pid)}`, 180, whole, seconds, (place, said, drawn) => new Dygraph(place, points, {
		...common(whole, seconds), labels: names, drawCallback: drawn, stepPlot: true, includeZero: true, strokeWidth: 2,
		colors: tones.map(colour), highlightCallback: (event, x, at) => {
			said.textContent = `at ${x.toFixed(3)} s: ${at.map((p) => `${p.name} ${text(p.yval)}`).join(", ")}`;
		},
	}), () => ({ colors: tones.map(colour) }));
	return el("div", { class: "card", id: `series-${i}` }, el("h3", {}, `Process ${text(s.pid)}`), el("ul", { class: "keys" }, ...keys), graph,
		el("details", {}, el("summary", {}, `${points.length} samples as a table`), table(`samples-${i}`,
			names.map((head, n) => ({ head, class: "number", value: (p) => p[n] })), points.slice(0, 2000), "")));
}

function latency(l, i) {
	const figure = (name, value) => el("div", {}, el("dt", {}, name), el("dd", {}, value));
	const all = rows(l.buckets), top = Math.max(...all.map((b) => b.n), 1);
	const bars = all.map((b) => {
		const name = `${time(b.from_us)} to ${is(b.to_us) ? time(b.to_us) : "more"}: ${b.n}`;
		const bar = el("span", { title: name, class: b.n ? null : "none" });
		bar.style.height = b.n ? `${Math.max(3, 100 * b.n / top)}%` : "1px";
		return bar;
	});
	// Few buckets are not wide ones.
	const width = (node) => {
		node.style.width = `${Math.max(3, all.length) * 44}px`;
		return node;
	};
	const ends = all.length ? [all[0].from_us, all[all.length - 1].to_us] : [];
	return el("div", { class: "card", id: `latency-${i}` }, el("h3", {}, text(l.name)), el("p", { class: "dim source" }, text(l.source)),
		el("dl", { class: "figures" }, figure("n", text(l.n)), ...["p50", "p90", "p99", "max", "min"].filter((k) => is(l[`${k}_us`]))
			.map((k) => figure(k, time(l[`${k}_us`])))),
		bars.length ? width(el("div", { class: "bars", role: "img", "aria-label": `Histogram of ${text(l.name)}; the table below has its figures` }, ...bars)) : null,
		bars.length ? width(el("div", { class: "ends" }, el("span", {}, time(ends[0])), el("span", {}, is(ends[1]) ? time(ends[1]) : "no limit"))) : el("p", { class: "dim" }, "Only these figures are known."),
		bars.length ? el("details", {}, el("summary", {}, "Buckets as a table"), table(`buckets-${i}`, [
			column("From", "from_us", { ...number, show: time }), column("To", "to_us", { ...number, show: time }), column("Number", "n", number),
		], all, "")) : null);
}

function head() {
	const s = rows(data.states).find((state) => is(state.host)) || {};
	const about = [is(s.kernel) ? `Linux ${s.kernel}` : null, is(s.time) ? s.time.replace("T", " ").replace("Z", " UTC") : null].filter(Boolean);
	const bad = rows(data.states).flatMap((state) => rows(state.checks)).filter((c) => c.result === "failed" || c.result === "warning");
	document.title = `gpreempt report${is(s.host) ? `: ${s.host}` : ""}`;
	return el("header", {}, el("h1", {}, is(s.host) ? s.host : "GPU report"), about.length ? el("p", { class: "dim" }, about.join(" \u00b7 ")) : null,
		data.simulated ? el("p", { class: "banner", id: "simulated", role: "note" },
			"Times are of a simulated GPU: the driver's path, not hardware.") : null,
		bad.length ? el("p", { class: "banner" }, el("a", { href: "#findings-of-doctor" }, `doctor: ${bad.map((c) => `${text(c.check)} ${c.result}`).join(", ")}`)) : null);
}

function show() {
	const several = rows(data.states).length > 1, states = rows(data.states);
	const named = (s, make, i) => {
		const made = make(s, i);
		return several && made ? el("div", {}, el("p", { class: "dim" }, text(s.source)), made) : made;
	};
	const each = (...makes) => states.flatMap((s, i) => makes.map((make) => named(s, make, i)));
	const part = (title, all, make, cls) => all.length ? section(title, el("div", { class: cls }, ...all.map(make))) : null;
	document.getElementById("page").append(...[head(), ...each(gpus, processes, holders),
		part("Timeline of guard", rows(data.timelines), timeline, null), part("Latencies", rows(data.latencies), latency, "cards"), part("Slots over time", rows(data.series), series, null),
		rows(data.metrics).length ? section("Metrics of guard", table("metrics", [
			column("Name", "name", { class: "code" }), column("Labels", "labels", { class: "code", spare: true }),
			column("Value", "value", number), column("Help", "help", { class: "text", spare: true }),
		], rows(data.metrics), "")) : null,
		...each(checks),
		el("footer", {}, `gpreempt ${text(data.gpreempt)}, from `, rows(data.sources).map((s) => `${text(s.name)} (${text(s.kind)})`).join(", "),
			". This page loads nothing. Its charts are drawn by dygraphs (MIT licence).")].filter(Boolean));
	charts.forEach((c) => c.start());
}

show();
