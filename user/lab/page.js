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

// The filter hides rows of all tables that do not have its words.
const tables = [];

function filter(event) {
	const wanted = event.target.value.toLowerCase().split(" ").filter(Boolean);
	for (const t of tables) {
		let shown = 0;
		for (const { node } of t.lines) {
			node.hidden = !wanted.every((w) => node.textContent.toLowerCase().includes(w));
			shown += !node.hidden;
		}
		t.said.textContent = wanted.length ? `${shown} of ${t.lines.length} rows match the filter.` : "";
	}
}

// Unknown values are last, in either direction.
function compare(a, b, sign) {
	if (!is(a) || !is(b))
		return is(b) - is(a);
	if (typeof a === "number" && typeof b === "number")
		return sign * (a - b);
	return sign * text(a).localeCompare(text(b), "en", { numeric: true });
}

function sortBy(t, i) {
	const down = t.heads[i].getAttribute("aria-sort") === "ascending";
	t.heads.forEach((head, k) => k === i ? head.setAttribute("aria-sort", down ? "descending" : "ascending") : head.removeAttribute("aria-sort"));
	t.lines.sort((a, b) => compare(a.values[i], b.values[i], down ? -1 : 1));
	t.body.append(...t.lines.map((line) => line.node));
}

// A column is a heading, a value of the row to sort by, and what its cell shows. On a phone a row
// is a card, but not in a narrow table.
function table(id, columns, all, empty, narrow) {
	if (!all.length)
		return el("p", { class: "dim", id }, empty);
	const used = columns.filter((c) => !c.spare || all.some((r) => is(c.value(r))));
	const t = { said: el("p", { class: "dim", "aria-live": "polite" }), body: el("tbody") };
	t.heads = used.map((c, i) => {
		const button = el("button", { type: "button" }, c.head);
		button.addEventListener("click", () => sortBy(t, i));
		return el("th", { scope: "col", class: c.class && c.class.startsWith("number") ? "number" : null }, button);
	});
	t.lines = all.map((row) => {
		const values = used.map((c) => c.value(row));
		return { values, node: el("tr", {}, ...used.map((c, i) => el("td", { "data-head": c.head,
			class: [c.class, c.tone ? c.tone(values[i]) : null, is(values[i]) ? null : "none"].filter(Boolean).join(" ") || null }, (c.show || text)(values[i], row)))) };
	});
	t.body.append(...t.lines.map((line) => line.node));
	tables.push(t);
	return el("div", {}, t.said, el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": id },
		el("table", { id, class: narrow ? null : "stack" }, el("thead", {}, el("tr", {}, ...t.heads)), t.body)));
}

const column = (head, key, more) => ({ head, value: (r) => r[key], ...more });
const number = { class: "number" }, spare = { class: "number", spare: true };
const of = (head, used, all, more) => ({ head, class: more && more.show ? "number long" : "number", value: (r) => r[used],
	show: (v, r) => is(v) ? `${((more || {}).show || text)(v)} of ${((more || {}).show || text)(r[all])}` : unknown, ...(more && more.spare ? { spare: true } : {}) });

// One or two of a list, else how many, and which when one asks.
function several(all, what) {
	return all.length <= 2 ? text(all) : el("details", {}, el("summary", {}, `${all.length} ${what}`), all.join(", "));
}

const sections = [];

function section(title, ...parts) {
	if (!parts.some(Boolean))
		return null;
	const same = sections.filter((s) => s.title === title).length;
	const id = title.toLowerCase().replace(/[^a-z]+/g, "-") + (same ? `-${same + 1}` : "");
	sections.push({ title, id });
	return el("section", { "aria-labelledby": id }, el("h2", { id }, title), ...parts);
}

// The rows of a state as a section: absent, unknown, or a table.
function listed(title, list, lost, make) {
	return list === undefined ? null : section(title, list === null ? el("p", { class: "warn" }, lost) : make(rows(list)));
}

const percent = (v) => typeof v === "number" ? `${v.toFixed(1)} %` : unknown;
const nameOf = (p) => `${text(p.pid)} ${text(p.command).split(" ")[0].split("/").pop()}${is(p.state) ? ` (${p.state})` : ""}`;

function gpus(state, i) {
	const here = (gpu) => rows(state.processes).filter((p) => list(p.kfd_gpu_id).includes(gpu.kfd_gpu_id)).map(nameOf);
	return listed("GPUs", state.gpus, "The GPUs are unknown: they could not be read.", (all) => table(`gpus-${i}`, [
		column("GPU", "gpu", number), column("Model", "model", { spare: true }), column("gfx", "gfx", { spare: true }),
		column("Mode", "mode", { spare: true }), column("Busy", "busy_percent", { ...spare, show: (v) => is(v) ? `${Math.round(v)} %` : unknown }),
		of("Memory in use", "vram_used", "vram_size", { show: size }), column("Power", "power_watts", { ...spare, show: (v) => is(v) ? `${v} W` : unknown }),
		of("Slots in use", "slots_used", "slots", { spare: true }), column("Queues", "queues", number),
		{ head: "Processes on it", class: "text", value: (g) => here(g).length, show: (n, g) => n ? several(here(g), "processes") : state.processes ? "none" : unknown },
		column("PCI", "pci", { class: "code" }), column("KFD id", "kfd_gpu_id", { class: "code" }), column("Render node", "render", { class: "code", spare: true }),
	], all, "There is no GPU."));
}

const stateTones = { __proto__: null, active: "good", suspended: "warn", "partly-suspended": "warn", paused: "warn", evicted: "warn", ended: "bad" };
const holderOf = (p) => is(p.held_by) ? `${text(p.held_by)}${is(p.held_as) ? ` (${text([p.held_as, p.how].filter(is))})` : ""}` : null;

// Sums of many processes by user and container; of what is unknown of one, none.
function groups(all, i) {
	const by = new Map(), sum = (a, b) => typeof a === "number" && typeof b === "number" ? a + b : null;
	for (const p of all) {
		const key = `${text(p.user)}/${text(p.container)}`, g = by.get(key);
		by.set(key, { user: p.user, container: p.container, n: g ? g.n + 1 : 1,
			queues: sum(g ? g.queues : 0, p.queues), vram: sum(g ? g.vram : 0, p.vram) });
	}
	return all.length < 8 || by.size < 2 ? "" : el("details", {}, el("summary", {}, `${all.length} processes by user and container`), table(`groups-${i}`, [
		column("User", "user"), column("Container", "container", { spare: true }), column("Processes", "n", number),
		column("Queues", "queues", number), column("VRAM", "vram", { ...number, show: size }),
	], [...by.values()].sort((a, b) => compare(a.vram, b.vram, -1)), ""));
}

function processes(state, i) {
	return listed("Processes", state.processes, "The processes are unknown: they could not be read.", (all) => el("div", {}, groups(all, i), table(`processes-${i}`, [
		column("PID", "pid", number), column("Command", "command", { class: "text" }),
		column("State", "state", { tone: (s) => stateTones[s] }),
		{ head: "Held by", spare: true, value: holderOf },
		{ head: "GPUs", value: (p) => list(p.gpu).length || list(p.kfd_gpu_id).length || null,
			show: (n, p) => n ? several(list(p.gpu).length ? p.gpu : p.kfd_gpu_id, "GPUs") : unknown },
		column("Queues", "queues", number), of("Slots", "active", "slots"),
		column("Waves", "waves", spare), column("VRAM", "vram", { ...number, show: size }),
		column("User", "user"), column("Container", "container", { spare: true }), column("Kept by", "kept_by", { spare: true }),
	], all, "No process uses the GPU.")));
}

function holders(state, i) {
	return listed("Held processes", state.holders, "Unknown: who holds whom could not be read.", (all) => table(`holders-${i}`, [
		column("PID", "pid", number), column("Command", "command", { class: "text", spare: true }), column("Role", "role"), column("Method", "how"),
		column("Holder", "holder", number), column("Guardian", "guardian", spare), column("Queues", "queues", number),
		column("For", "held_us", { ...number, show: (v, r) => text(r.since) }), column("Lease", "lease_left_us", { ...number, show: (v, r) => text(r.lease) }),
		column("By user", "user", { spare: true }), column("From", "from", { spare: true }), column("Release with", "release_with", { class: "code" }),
	], all, "Nothing is held."));
}

const results = { __proto__: null, failed: ["bad", "\u2717 "], unknown: ["warn", "? "], warning: ["warn", "! "], note: ["note", "i "], ok: ["good", "\u2713 "] };

function checks(state, i) {
	const order = Object.keys(results), place = (v) => (order.indexOf(v) + order.length + 1) % (order.length + 1);
	return listed("Findings of doctor", state.checks, "Unknown: doctor could not look.", (all) => table(`checks-${i}`, [
		{ head: "Result", value: (c) => place(c.result), tone: (n) => (results[order[n]] || [""])[0],
			show: (n, c) => (results[c.result] || ["", ""])[1] + text(c.result) },
		column("Check", "check"), column("Found", "text", { class: "text" }), column("What to do", "next", { class: "text", spare: true }),
	], all.sort((a, b) => place(a.result) - place(b.result)), "doctor has no finding."));
}

// Colours of the page as it is now, light or dark.
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const charts = [];
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => charts.forEach((c) => c.repaint()));

// The parts that all charts have: a place, buttons and keys for the zoom, a line of text.
function chart(name, height, whole, label, of, make, again = () => ({})) {
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
			range.textContent = `${a <= whole[0] && b >= whole[1] ? "all of it: " : ""}${label(a)} to ${label(b)} of ${label(whole[1])} ${of}`;
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

const ROW = 46, BAR = 20, NARROWEST = 4; // pixels, the last one of a suspension
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
	// A run that is too long to see each suspension begins with its last part.
	const most = Math.max(10, Math.floor(Math.min(innerWidth, 1400) / NARROWEST / Math.max(all.length, 1)));
	const ends = all.flatMap((l) => l.spans.map((s) => s[0])).sort((a, b) => a - b);
	const begins = ends.length > most * all.length ? [ends[ends.length - most * all.length], whole[1]] : whole.slice();
	const shown = (l) => `${text(l.pid)}${is(l.comm) ? ` ${l.comm}` : ""} \u2013 ${l.online ? "online" : "offline"}`;
	const sum = (l, kind) => l.spans.filter((s) => s[2] === kind).reduce((n, s) => n + s[1] - s[0], 0);
	const count = (l, kind) => l.spans.filter((s) => s[2] === kind).length;
	const key = (kind, label, thin) => {
		const mark = el("i", { class: thin ? "thin" : null });
		mark.style.background = `var(--${kind})`;
		return el("li", {}, mark, label);
	};
	const graph = chart(`Timeline of ${all.length} processes; the table below has the figures`, all.length * ROW + 34, whole, time, "since guard began", (place, said, drawn) => {
		const g = new Dygraph(place, [[whole[0], 0], [whole[1], 0]], {
			...common(whole, time), labels: ["us", "none"], dateWindow: begins, drawCallback: drawn, colors: ["#0000"], valueRange: [0, 1],
			axes: { x: common(whole, time).axes.x, y: { drawAxis: false, drawGrid: false, axisLabelWidth: 0 } },
			drawPoints: false, highlightCircleSize: 0, underlayCallback: (...args) => drawLanes(all, shown, ...args),
		});
		const point = (event) => {
			const box = place.getBoundingClientRect(), l = all[Math.floor((event.clientY - box.top) / ROW)];
			const span = l && spanAt(l, g.toDataXCoord(event.clientX - box.left));
			said.textContent = !span ? "" : `${shown(l)} ${words[span[2]]} for ${time(span[1] - span[0])}, from ${time(span[0])} to ${time(span[1])} since guard began`;
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
			{ head: "Present", class: "number", value: (l) => l.until - l.since, show: time },
			{ head: "Busy (count)", ...spare, value: (l) => l.online ? count(l, "busy") : null },
			{ head: "Busy", ...spare, value: (l) => l.online ? sum(l, "busy") : null, show: time },
			{ head: "Suspended (count)", ...spare, value: (l) => l.online ? null : count(l, "held") },
			{ head: "Suspended", ...spare, value: (l) => l.online ? null : sum(l, "held"), show: time },
			{ head: "Ran although suspended", ...spare, value: (l) => sum(l, "ran") || null, show: time },
		], every, "No process was a target."),
		notes.length ? el("details", {}, el("summary", {}, `Other events of guard (${notes.length})`),
			table(`notes-${i}`, [column("Since guard began", "t_us", { ...number, show: time }), column("Event", "event"), column("Text", "text", { class: "text" })],
				notes.slice(-500), "")) : null);
}

const seconds = { head: "Time (s)", label: (v) => `${Number(v.toFixed(3))} s` };
const bytes = { head: "Wave state", label: size, show: size };

// Lines over time, or over what x says. A row that is short is of before the last columns came.
function plot(title, id, of, shown, s, options, x = seconds) {
	const names = list(s.columns).map(String), points = list(s.points).map((p) => names.map((name, n) => p[n] ?? null));
	if (!points.length)
		return null;
	const tones = ["runs", "dim", "ran", "busy", "good", "warn", "note", "bad"], whole = [points[0][0], Math.max(points[points.length - 1][0], points[0][0] + 1e-3)];
	const keys = names.slice(1).map((name, n) => {
		const mark = el("i", {});
		mark.style.background = `var(--${tones[n % tones.length]})`;
		return el("li", {}, mark, name);
	});
	const graph = chart(title, 180, whole, x.label, of, (place, said, drawn) => new Dygraph(place, points, {
		...common(whole, x.label), labels: names, drawCallback: drawn, includeZero: true, strokeWidth: 2, ...options,
		colors: tones.map(colour), highlightCallback: (event, at, row) => {
			said.textContent = `${x.label(at)} ${of}: ${row.map((p) => `${p.name} ${shown(p.yval)}`).join(", ")}`;
		},
	}), () => ({ colors: tones.map(colour) }));
	return el("div", { class: "card" }, el("h3", {}, title), el("ul", { class: "keys" }, ...keys), graph,
		el("details", {}, el("summary", {}, `${points.length} samples as a table`), table(id,
			names.map((head, n) => ({ head: n ? head : x.head, class: "number", value: (p) => p[n], show: n ? shown : x.show || text })), points.slice(0, 2000), "", x === seconds && names.join("").length < 40)));
}

const series = (s, i) => plot(`Process ${text(s.pid)}`, `samples-${i}`, "since monitor began", text, s, { stepPlot: true });
const shares = (s, i) => plot(text(s.source), `shares-${i}`, "since guard began", percent, s, {});

// Medians of a trial's first GPU by the state that the waves had, which is the same for all figures of a setup.
function latencies(t) {
	const lines = [["waves", "suspend_ioctl_us", "suspend, ioctl"], ["waves", "suspend_slots_us", "suspend, until off"],
		["pause", "suspend_ioctl_us", "pause, ioctl"], ["waves", "resume_ioctl_us", "resume, ioctl"]];
	const gpu = (rows(t.figures)[0] || {}).gpu, by = new Map();
	for (const f of rows(t.figures).filter((f) => f.gpu === gpu && typeof f.state_bytes === "number" && typeof f.p50_us === "number")) {
		const line = lines.findIndex(([stage, figure]) => f.stage === stage && f.figure === figure);
		if (line < 0)
			continue;
		const point = by.get(f.state_bytes) || [f.state_bytes, f.limit_us ?? null, ...lines.map(() => null)];
		point[line + 2] = f.p50_us;
		by.set(f.state_bytes, point);
	}
	const points = [...by.values()].sort((a, b) => a[0] - b[0]);
	const kept = [0, ...lines.map((line, n) => n + 2), 1].filter((n) => !n || points.some((p) => p[n] !== null));
	return { columns: kept.map((n) => n === 0 ? "state" : n === 1 ? "least, by memory" : lines[n - 2][2]), points: points.map((p) => kept.map((n) => p[n])) };
}

const verdicts = { __proto__: null, "does not hold": ["bad", "\u2717 "], "not tried": ["dim", ""], holds: ["good", "\u2713 "] };

function trial(t, i) {
	const [a, b] = rows(t.trials), many = (all) => new Set(all.map((r) => r.gpu)).size > 1;
	const gpu = (all) => many(all) ? [column("GPU", "gpu", number)] : [], order = Object.keys(verdicts);
	const name = (f) => `${is(f.part) && f.part !== "preempt" ? `${f.part}: ` : ""}${text(f.figure).replace(/_us$/, "").replace(/_/g, " ")}`;
	const stages = rows(t.stages), claims = rows(t.claims), figures = rows(t.figures);
	const of = (f) => f.limit_us > 0 && typeof f.p50_us === "number" ? f.p50_us / f.limit_us : null;
	return el("div", { class: "card" }, el("h3", {}, text(a.source)),
		el("p", { class: "dim source" }, [`gpreempt ${text(a.version)}`, `Linux ${text(a.kernel)}`, text(a.gfx), b ? `beside ${text(b.source)}: gpreempt ${text(b.version)}, Linux ${text(b.kernel)}, ${text(b.gfx)}` : null].filter(is).join(" \u00b7 ")),
		table(`claims-${i}`, [...gpu(claims),
			{ head: "Verdict", value: (c) => order.indexOf(c.verdict), tone: (n) => (verdicts[order[n]] || [""])[0],
				show: (n, c) => (verdicts[c.verdict] || ["", ""])[1] + text(c.verdict) },
			column("Claim", "claim", { class: "text" }), column("Tried", "tried", number), column("Held", "held", number),
			column("Simulated GPU", "b_verdict", { spare: true }),
		], claims, "No claim was tried."),
		plot("Latency by what the waves hold (medians)", `states-${i}`, "of wave state", time, latencies(t), { drawPoints: true, pointSize: 3, connectSeparatedPoints: true,
			axes: { x: { axisLabelFormatter: size, pixelsPerLabel: 90, axisLabelWidth: 80 }, y: { axisLabelFormatter: time, axisLabelWidth: 70 } } }, bytes),
		table(`figures-${i}`, [...gpu(figures), column("Stage", "stage"), column("Setup", "setup", { class: "text" }), { head: "Figure", value: name },
			column("Samples", "n", number), column("p50", "p50_us", { ...number, show: time }), column("p99", "p99_us", { ...number, show: time }),
			column("max", "max_us", { ...number, show: time }), column("Wave state", "state_bytes", { ...spare, show: size }),
			column("Least", "limit_us", { ...spare, show: time }), { head: "Times the least", ...spare, value: of, show: (v) => is(v) ? v.toFixed(1) : unknown },
			column("Simulated p50", "b_p50_us", { ...spare, show: time }), column("Simulated, of p50", "b_percent", { ...spare, show: percent }),
		], figures, "Nothing was measured."),
		el("details", {}, el("summary", {}, `${stages.length} stages`), table(`stages-${i}`, [...gpu(stages),
			column("Stage", "stage"), column("Result", "result"), column("Why", "why", { class: "text", spare: true }),
		], stages, "")));
}

// "100 µs", with no more digits than a bound has.
function bound(us) {
	const [by, unit] = us < 1000 ? [1, "\u00b5s"] : us < 1e6 ? [1000, "ms"] : [1e6, "s"];
	return `${Number((us / by).toPrecision(6))} ${unit}`;
}

const bounds = (b) => is(b.to_us) ? `${bound(b.from_us)} to ${bound(b.to_us)}` : `${bound(b.from_us)} or more`;

// Of a histogram alone a percentile is known to be in a bucket.
function rank(l, part) {
	let left = Math.max(1, Math.ceil(l.n * part));
	const found = rows(l.buckets).find((b) => (left -= b.n) <= 0);
	return found ? is(found.to_us) ? `\u2264 ${bound(found.to_us)}` : `> ${bound(found.from_us)}` : unknown;
}

function bar(n, top) {
	const mark = el("i");
	mark.style.width = `${n ? Math.max(1, 100 * n / top) : 0}%`;
	return mark;
}

function latency(l, i) {
	const figure = (name, value) => el("div", {}, el("dt", {}, name), el("dd", {}, value));
	const all = rows(l.buckets), top = Math.max(...all.map((b) => b.n), 1);
	const parts = { p50: 0.5, p90: 0.9, p99: 0.99 }, exact = (k) => is(l[`${k}_us`]);
	const shown = [...Object.keys(parts), "max", "min"].filter((k) => exact(k) || (parts[k] && all.length));
	return el("div", { class: "card", id: `latency-${i}` }, el("h3", {}, text(l.name)),
		el("p", { class: "dim source" }, [labels(l.labels), text(l.source)].filter(is).join(" \u00b7 ")),
		el("dl", { class: "figures" }, figure("samples", text(l.n)), ...shown.map((k) => figure(k, exact(k) ? time(l[`${k}_us`]) : rank(l, parts[k]))),
			is(l.sum_us) && l.n > 0 ? figure("mean", time(l.sum_us / l.n)) : null),
		all.length ? table(`buckets-${i}`, [
			{ head: "Time", value: (b) => b.from_us, show: (v, b) => bounds(b) }, { head: "", class: "bar", value: (b) => b.n, show: (n) => bar(n, top) },
			column("Samples", "n", number),
		], all, "", true) : el("p", { class: "dim" }, "This file has no samples, so there is no histogram."));
}

const pairs = (v) => [...String(v || "").matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g)].map((m) => [m[1], m[2]]);
const hostsOf = (all) => [...new Set(all.flatMap((m) => pairs(m.labels)).filter(([k]) => k === "hostname").map((p) => p[1]))];
const metricHosts = hostsOf([...rows(data.metrics), ...rows(data.latencies)]);
// Labels in words: 'guard a, role online'. The host of all is in the page's heading.
const labels = (v) => pairs(v).filter(([k, value]) => value !== "" && (k !== "hostname" || metricHosts.length > 1))
	.map(([k, value]) => `${k.replace(/_/g, " ")} ${value}`).join(", ");

// A value by the unit in its name; help that begins so has yes and no.
function measured(value, m) {
	const name = text(m.name).replace(/_total$/, "");
	if (!is(value))
		return unknown;
	if (text(m.help).startsWith("1: ") && (value === 0 || value === 1))
		return value ? "yes" : "no";
	return name.endsWith("_seconds") ? time(value * 1e6) : name.endsWith("_bytes") ? size(value) :
		name.endsWith("_ratio") ? percent(100 * value) : text(value);
}

const sentence = (m) => is(m.help) ? m.help.replace(/^1: /, "").replace(/\.$/, "").replace(/^./, (c) => c.toUpperCase()) : text(m.name);

function metrics(all) {
	const ours = all.every((m) => text(m.name).startsWith("gpreempt_guard_"));
	return all.length ? section(ours ? "Figures of guard" : "Metrics", table("metrics", [
		{ head: "Figure", class: "text", value: sentence, show: (v, m) => el("span", { title: text(m.name) }, v) },
		{ head: "Of", spare: true, value: (m) => labels(m.labels) },
		column("Value", "value", { ...number, show: measured }),
	], all, "")) : null;
}

const when = (v) => is(v) ? text(v).replace("T", " ").replace("Z", " UTC") : null;

// Host, time and kernel, as far as the inputs have them; then who made the page.
function head() {
	const states = rows(data.states), sources = rows(data.sources), live = states.some((s) => s.source === "now");
	const found = states.flatMap((s) => rows(s.checks));
	const hosts = [...new Set([...states.map((s) => s.host).filter(is), ...metricHosts])];
	const kernels = [...new Set([...states.map((s) => s.kernel), ...rows(data.trials).map((t) => rows(t.trials)[0].kernel), ...states.filter((s) => !is(s.kernel)).flatMap((s) => rows(s.checks)).filter((c) => c.check === "kernel" && c.result === "ok").map((c) => c.text)].filter(is))];
	const times = [...states.map((s) => s.time), ...sources.map((s) => s.time)].filter(is).map(when).sort();
	const names = hosts.length ? hosts.join(", ") : sources.length === 1 ? text(sources[0].name).split("/").pop() : `${sources.length} files`;
	const about = [kernels.length ? `Linux ${kernels.join(", ")}` : "kernel unknown", times.length ?
		[...new Set([times[0], times[times.length - 1]])].join(" to ") : "time unknown",
		live ? null : `page made on ${text(data.host)}, ${text(when(data.time))}`].filter(is);
	const bad = found.filter((c) => c.result === "failed" || c.result === "warning");
	document.title = `gpreempt report: ${names}`;
	return [el("h1", {}, el("span", { class: "dim" }, "gpreempt report: "), names), el("p", { class: "dim", id: "about" }, about.join(" \u00b7 ")),
		data.simulated ? el("p", { class: "banner", id: "simulated", role: "note" },
			"Simulated GPU: times show the driver's path, not hardware.") : null,
		bad.length ? el("p", { class: "banner" }, el("a", { href: "#findings-of-doctor" }, `doctor: ${bad.map((c) => `${text(c.check)} ${c.result}`).join(", ")}`)) : null];
}

// Links to the sections, and the filter where there are rows enough for one.
function tools() {
	const input = el("input", { type: "search", id: "filter", placeholder: "filter rows of all tables", "aria-label": "filter rows of all tables" });
	input.addEventListener("input", filter);
	return el("nav", {}, ...sections.map((s) => el("a", { href: `#${s.id}` }, s.title)), tables.some((t) => t.lines.length > 1) ? input : null);
}

function show() {
	const states = rows(data.states);
	const each = (...makes) => states.flatMap((s, i) => makes.map((make) => {
		const made = make(s, i);
		return states.length > 1 && made ? el("div", {}, el("p", { class: "dim source" }, text(s.source)), made) : made;
	}));
	const part = (title, all, make, cls) => all.length ? section(title, el("div", { class: cls }, ...all.map(make))) : null;
	const parts = [part("Trial", rows(data.trials), trial, null), ...each(gpus, processes, holders),
		part("Timeline of guard", rows(data.timelines), timeline, null), part("GPU time by tenant (%)", rows(data.shares), shares, null),
		part("Latencies", rows(data.latencies), latency, "cards"),
		part("Slots over time", rows(data.series), series, null), metrics(rows(data.metrics)), ...each(checks)];
	document.getElementById("page").append(...[el("header", {}, ...head().filter(Boolean), tools()), ...parts,
		el("footer", {}, `gpreempt ${text(data.gpreempt)}, from `, rows(data.sources).map((s) => `${text(s.name)} (${[s.kind, when(s.time)].filter(is).join(", ")})`).join(", "),
			". This page loads nothing. Its charts are drawn by dygraphs (MIT licence).")].filter(Boolean));
	charts.forEach((c) => c.start());
}

show();
