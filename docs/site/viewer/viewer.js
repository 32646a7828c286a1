// One viewer for recorded launches: scrub, step, jump to a finding, see what holds behind each event. hopperViewer.open() puts
// it into an element, at the first event of what was found; the other scripts of this directory come before this one.
'use strict';

(() => {
    const viewer = globalThis.hopperViewer ??= {};
    const TABLE_ROWS = 13, SOURCE_LINES = 15, MOST_RUNS = 24, MOST_ITEMS = 40;

    /** An element with properties, attributes (`aria-…`, `role`, `for`) and children. */
    function make(tag, properties = {}, ...children) {
        const element = document.createElement(tag);
        for (const [name, value] of Object.entries(properties))
            if (name.includes('-') || name === 'role' || name === 'for') element.setAttribute(name, value);
            else element[name] = value;
        element.append(...children.filter(each => each !== null));
        return element;
    }
    viewer.make = make;

    let count = 0; // Of viewers in the page, for ids.

    class Viewer {
        /**
         * `options.link(cluster, event)`: the fragment of the address that leads to a moment; null: there is none. `options.told`: what was
         * found stands above the viewer already, which then names it only.
         */
        constructor(recording, options) {
            Object.assign(this, { recording, options, id: `hv${++count}`, event: 0, zoom: 1, states: new Map() });
            this.element = make('section', { className: 'hv', 'aria-label': `What happened in ${recording.kernel}` });
            this.#build();
            this.element.addEventListener('keydown', event => this.#key(event));
            this.chooseCluster(0);
        }

        // ---- What it consists of.

        #build() {
            const { recording } = this;
            const note = recording.clusters.some(each => each.cut) ? ' The recording ends before the launch does: it has reached its limit.' : '';
            this.intro = make('p', { className: 'hv-intro' }, make('strong', { textContent: recording.kernel }),
                ` Order, not time: an emulator has no clock. From left to right is what happened one after the other.${note}`);
            this.status = make('p', { className: 'hv-status', role: 'status', 'aria-live': 'polite' });
            this.lanes = this.#canvas('hv-lanes', 'Lanes of order: the table of events below says the same in words');
            this.laneView = new viewer.LaneView(this.lanes.canvas, this.lanes.scroller);
            this.memory = this.#canvas('hv-memory', 'Shared memory: the list below says the same in words');
            this.sharedView = new viewer.SharedView(this.memory.canvas, this.memory.scroller, recording);
            this.source = make('div', { className: 'hv-source', tabIndex: 0, role: 'region', 'aria-label': 'Source' });
            this.facts = make('div', { className: 'hv-facts', tabIndex: 0, role: 'region', 'aria-label': 'Barriers, groups, copies' });
            this.table = make('div', { className: 'hv-table', tabIndex: 0, role: 'region', 'aria-label': 'Table of events' });
            this.findings = make('div', { className: 'hv-findings' });
            this.word = make('p', { className: 'hv-word', role: 'status' });
            this.runs = make('details', { className: 'hv-runs' }, make('summary', { textContent: 'Who wrote what' }), make('ul'));
            this.runs.ontoggle = () => this.#drawRuns();
            this.memoryPart = make('div', {}, make('p', { className: 'hv-head', textContent: 'Shared memory' }), this.#legend(), this.memory.scroller, this.word, this.runs);
            this.element.append(this.intro, this.findings, this.#steps(), this.#choices(), this.lanes.scroller,
                make('div', { className: 'hv-columns' },
                    make('div', {}, make('p', { className: 'hv-head', textContent: 'Source' }), this.source,
                        make('p', { className: 'hv-head', textContent: 'Barriers, groups, copies' }), this.facts), this.memoryPart),
                make('p', { className: 'hv-head', textContent: 'Events' }), this.table, this.#help());
            this.#listen();
        }
        #canvas(name, label) {
            const canvas = make('canvas', { role: 'img', 'aria-label': label });
            const scroller = make('div', { className: name, tabIndex: 0, role: 'region', 'aria-label': label.split(':')[0] },
                make('div', { className: 'hv-tall' }), canvas);
            return { canvas, scroller };
        }
        #button(text, label, act) {
            return make('button', { type: 'button', textContent: text, title: label, 'aria-label': label, onclick: act });
        }
        /** What goes from event to event, and what that is: it stays in view while one looks at the parts below. */
        #steps() {
            this.slider = make('input', { type: 'range', min: 0, value: 0, className: 'hv-slider', 'aria-label': 'Event' });
            this.slider.oninput = () => this.go(Number(this.slider.value));
            this.findingButtons = [this.#button('◀ finding', 'Previous event of a finding', () => this.stepFinding(-1)),
                this.#button('finding ▶', 'Next event of a finding', () => this.stepFinding(1))];
            return make('div', { className: 'hv-bar hv-steps' }, this.slider,
                make('div', { className: 'hv-buttons' },
                    this.#button('|◀', 'First event', () => this.go(0)), this.#button('◀', 'Previous event', () => this.go(this.event - 1)),
                    this.#button('▶', 'Next event', () => this.go(this.event + 1)), this.#button('▶|', 'Last event', () => this.go(Infinity)),
                    ...this.findingButtons),
                this.status);
        }
        #choices() {
            this.cluster = this.#select('Cluster', this.recording.clusters.map(each => [each.cluster, this.#clusterName(each)]));
            this.cluster.select.onchange = () => this.chooseCluster(this.cluster.select.selectedIndex);
            this.block = this.#select('Block', []);
            this.block.select.onchange = () => this.chooseBlock(Number(this.block.select.value));
            this.warp = this.#select('Warp', []);
            this.warp.select.onchange = () => this.#draw();
            this.link = make('a', { textContent: 'Link to this moment', href: '#', hidden: !this.options.link });
            return make('div', { className: 'hv-bar hv-buttons' },
                this.#button('◀ warp', 'Previous instruction of the warp', () => this.stepWarp(-1)),
                this.#button('warp ▶', 'Next instruction of the warp', () => this.stepWarp(1)),
                this.#button('−', 'Zoom out', () => this.zoomBy(0.5)), this.#button('+', 'Zoom in', () => this.zoomBy(2)),
                this.cluster.label, this.block.label, this.warp.label, this.link);
        }
        #select(name, options) {
            const select = make('select', { id: `${this.id}-${name}` });
            for (const [value, text] of options) select.append(make('option', { value, textContent: text }));
            return { select, label: make('label', { for: select.id }, `${name} `, select) };
        }
        #clusterName({ blocks }) {
            const name = block => `(${block.join(',')})`;
            return blocks.length === 1 ? `block ${name(blocks[0])}` : `blocks ${name(blocks[0])} to ${name(blocks.at(-1))}`;
        }
        #legend() {
            const entry = (style, text) => make('li', {}, make('span', { className: `hv-key ${style}`, 'aria-hidden': 'true' }), text);
            return make('ul', { className: 'hv-legend' }, entry('hv-plain', 'written by threads: a colour for each warp'),
                entry('hv-slant', 'by the async proxy'), entry('hv-dots', 'by cp.async'), entry('hv-dashed', 'a copy will write here'),
                entry('hv-bold', 'this event'));
        }
        #help() {
            const keys = [['← →', 'event'], ['↑ ↓', 'instruction of the warp'], ['Page up, down', '20 events'], ['Home, End', 'first, last'],
                ['f, F', 'next, previous finding'], ['w, W', 'next, previous warp'], ['+ − 0', 'zoom, all of it']];
            return make('p', { className: 'hv-help' }, 'Keys: ', ...keys.flatMap(([key, text], i) =>
                [i ? ' · ' : '', make('kbd', { textContent: key }), ` ${text}`]), '.');
        }
        #listen() {
            const { canvas, scroller } = this.lanes;
            canvas.onclick = event => {
                const lane = this.laneView.laneAt(event.offsetY);
                if (lane?.warp >= 0) this.warp.select.value = String(lane.warp);
                this.go(this.laneView.eventAt(event.offsetX));
            };
            scroller.onscroll = () => this.#drawLanes();
            this.memory.canvas.onclick = event => this.#chooseWord(this.sharedView.wordAt(event.offsetX, event.offsetY));
            this.memory.scroller.onscroll = () => this.sharedView.draw(this.state, this.event);
            new ResizeObserver(() => this.#draw()).observe(this.element);
        }

        // ---- What is looked at.

        get events() { return this.recording.clusters[this.clusterIndex]; }

        chooseCluster(index, event = 0) {
            this.clusterIndex = index;
            const { events, recording } = this;
            this.cluster.select.selectedIndex = index;
            this.slider.max = events.count - 1;
            if (!this.states.has(index))
                this.states.set(index, { states: new viewer.States(events, recording.shared), lanes: viewer.lanesOf(recording, events) });
            this.laneView.take(this.states.get(index).lanes);
            this.block.select.replaceChildren(...events.blocks.map((block, rank) => make('option', { value: rank, textContent: `(${block.join(',')})` })));
            this.cluster.label.hidden = recording.clusters.length === 1;
            this.block.label.hidden = events.blocks.length === 1;
            this.zoom = 1;
            this.event = Math.min(event, events.count - 1);
            this.#showFindings();
            this.chooseBlock(Math.max(events.warp(this.event), 0) >> 5);
        }
        chooseBlock(rank) {
            this.rank = rank;
            this.block.select.value = String(rank);
            const warps = this.events.warps.filter(warp => warp >> 5 === rank);
            this.warp.select.replaceChildren(...warps.map(warp => make('option', { value: warp, textContent: String(warp % 32) })));
            this.laneView.choose(rank);
            this.sharedView.choose(this.events, rank);
            this.memoryPart.hidden = !this.sharedView.rows;
            this.go(this.event);
        }
        /** Shows an event, or the nearest that there is. */
        go(event) {
            this.event = Math.max(0, Math.min(event, this.events.count - 1));
            this.slider.value = this.event;
            const warp = this.events.warp(this.event);
            if (warp >= 0 && warp >> 5 === this.rank && this.follows !== false) this.warp.select.value = String(warp);
            this.#draw();
        }
        stepWarp(by) {
            const mine = this.events.of(Number(this.warp.select.value));
            const next = by > 0 ? mine.find(each => each > this.event) : mine.findLast(each => each < this.event);
            if (next === undefined) return;
            this.go(next);
        }
        /** The next or the previous of the findings' events, in whichever cluster it is; null: there is none. */
        #nextMoment(by) {
            const all = this.#moments();
            const here = [this.clusterIndex, this.event];
            const compare = (a, b) => a[0] - b[0] || a[1] - b[1];
            return (by > 0 ? all.find(each => compare(each, here) > 0) : all.findLast(each => compare(each, here) < 0)) ?? null;
        }
        stepFinding(by) {
            const next = this.#nextMoment(by);
            if (next) this.#goTo(next);
        }
        /** Where one begins to look: at the first event of what was found first, or of the launch. */
        start() {
            const [first] = this.recording.findings, index = first ? this.#clusterOf(first) : -1;
            const at = index < 0 ? [] : this.#eventsOf(first);
            if (at.length) this.#goTo([index, at[0]]);
            else this.go(0);
        }
        #clusterOf(finding) {
            return this.recording.clusters.findIndex(({ cluster }) => cluster === finding.cluster);
        }
        /** A finding's events, in order. */
        #eventsOf({ places, event }) {
            return [...new Set([...places, event])].filter(at => at >= 0).sort((a, b) => a - b);
        }
        #moments() {
            return this.moments ??= this.#allMoments();
        }
        #allMoments() {
            const moments = this.recording.findings.flatMap(each => {
                const index = this.#clusterOf(each);
                return index < 0 ? [] : this.#eventsOf(each).map(at => [index, at]);
            });
            return moments.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
        }
        #goTo([index, event]) {
            if (index !== this.clusterIndex) return this.chooseCluster(index, event);
            const warp = this.events.warp(event);
            this.event = event;
            if (warp >= 0 && warp >> 5 !== this.rank) this.chooseBlock(warp >> 5);
            this.go(event);
        }
        zoomBy(factor) {
            const most = Math.max(1, this.events.count / 12);
            this.zoom = factor === 0 ? 1 : Math.max(1, Math.min(most, this.zoom * factor));
            this.#draw();
        }
        /** The cluster and event of a link, "3.120". */
        follow(text) {
            const [cluster, event] = text.split('.').map(Number);
            const index = this.recording.clusters.findIndex(each => each.cluster === cluster);
            if (index < 0 || !Number.isInteger(event)) return false;
            this.#goTo([index, Math.max(0, Math.min(event, this.recording.clusters[index].count - 1))]);
            return true;
        }

        // ---- Keys.

        #key(event) {
            if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches('select')) return;
            const act = {
                ArrowLeft: () => this.go(this.event - 1), ArrowRight: () => this.go(this.event + 1),
                ArrowUp: () => this.stepWarp(-1), ArrowDown: () => this.stepWarp(1),
                PageUp: () => this.go(this.event - 20), PageDown: () => this.go(this.event + 20),
                Home: () => this.go(0), End: () => this.go(Infinity),
                f: () => this.stepFinding(1), F: () => this.stepFinding(-1), w: () => this.#nextWarp(1), W: () => this.#nextWarp(-1),
                '+': () => this.zoomBy(2), '-': () => this.zoomBy(0.5), 0: () => this.zoomBy(0),
            }[event.key];
            if (!act) return;
            event.preventDefault();
            act();
        }
        #nextWarp(by) {
            const { select } = this.warp;
            select.selectedIndex = (select.selectedIndex + by + select.length) % select.length;
            this.#draw();
        }
        #chooseWord(word) {
            if (word < 0) return;
            this.sharedView.chosen = word;
            this.#draw();
        }

        // ---- What is shown of a moment.

        #draw() {
            if (!this.states.has(this.clusterIndex)) return;
            this.state = this.states.get(this.clusterIndex).states.behind(this.event);
            const { recording, events, event } = this;
            const said = [viewer.words.who(events, event), viewer.words.what(recording, events, event)].filter(Boolean).join(' ');
            const where = viewer.words.where(recording, events, event);
            this.status.textContent = `Event ${event} of ${events.count - 1}: ${said}${where ? ` (${where})` : ''}`;
            this.slider.setAttribute('aria-valuetext', this.status.textContent);
            if (this.options.link) this.link.href = this.options.link(events.cluster, event);
            // Disabled, a button would lose the focus.
            this.findingButtons.forEach((button, i) => button.setAttribute('aria-disabled', String(!this.#nextMoment(i ? 1 : -1))));
            for (const { button, at } of this.places) button.setAttribute('aria-pressed', String(at[0] === this.clusterIndex && at[1] === event));
            this.#drawLanes();
            this.sharedView.draw(this.state, event);
            this.#drawSource();
            this.#drawFacts();
            this.#drawTable();
            this.#drawRuns();
            this.word.textContent = this.sharedView.chosen < 0 ? 'Choose a cell to see who wrote it.'
                : `Offset ${4 * this.sharedView.chosen}: ${viewer.words.writer(recording, events, this.state.writer(this.sharedView.address(this.sharedView.chosen)))}.`;
        }
        #drawLanes() {
            const { count } = this.events, view = this.laneView, width = count / this.zoom;
            if (this.zoom === 1) [view.from, view.to] = [0, count];
            else if (view.to - view.from !== width || this.event < view.from || this.event >= view.to) {
                view.from = Math.max(0, Math.min(this.event - width / 2, count - width));
                view.to = view.from + width;
            }
            const marks = this.#moments().filter(([index]) => index === this.clusterIndex).map(([, at]) => [at]);
            view.draw(this.event, marks);
        }
        /** The line of the event, or of the chosen warp's last one where no thread did it. */
        #drawSource() {
            const { recording, events, event, state } = this;
            const warp = events.warp(event) >= 0 ? events.warp(event) : Number(this.warp.select.value);
            const last = state.warp(warp).last;
            const at = last < 0 ? { file: -1, callers: [] } : recording.instruction(events.pc(last));
            if (at.file < 0) return this.source.replaceChildren(make('p', { textContent: 'No line is known.' }));
            const blamed = this.#blamed(at.file), lines = recording.lines[at.file];
            const from = Math.max(1, at.line - (SOURCE_LINES >> 1)), rows = [];
            for (let line = from; line < from + SOURCE_LINES && line <= lines.length; ++line) {
                const isHere = line === at.line, role = blamed.get(line);
                const row = make('div', { className: `hv-line${isHere ? ' hv-here' : ''}${role ? ' hv-blamed' : ''}` },
                    make('span', { className: 'hv-number', textContent: `${isHere ? '▶' : ''}${line}` }),
                    make('code', { textContent: lines[line - 1] || ' ' }), role ? make('em', { textContent: `▲ ${role}` }) : null);
                if (isHere) row.setAttribute('aria-current', 'true');
                rows.push(row);
            }
            const called = at.callers.map(([file, line]) => `${recording.files[file][0].split('/').at(-1)}:${line}`).join(', ');
            const whose = `${recording.files[at.file][0]}, warp ${warp % 32}${called ? `, called at ${called}` : ''}`;
            this.source.replaceChildren(make('p', { textContent: whose }), make('div', { className: 'hv-lines' }, ...rows));
        }
        #blamed(file) {
            const name = this.recording.files[file][0];
            return new Map(this.recording.findings.flatMap(({ finding }) => finding.locations)
                .filter(each => each.file === name).map(each => [each.line, each.role]));
        }
        #drawFacts() {
            const { recording, state, events } = this, words = viewer.words;
            const barriers = [...state.plan.barriers.keys()].filter(address => address >>> 24 === this.rank).map(address => {
                const { phase, pending, bytes, expected, valid } = state.barrier(address);
                return [recording.barrierName(address), valid === 1 ? [`phase ${phase}, parity ${phase & 1}`, `${pending} of ${expected}`, `${bytes}`] : ['not initialised', '', '']];
            });
            const rows = barriers.slice(0, MOST_ITEMS).map(([name, cells]) =>
                make('tr', {}, make('th', { scope: 'row', textContent: name }), ...cells.map(text => make('td', { textContent: text }))));
            const head = make('tr', {}, ...['mbarrier', 'phase', 'arrivals missing', 'bytes missing'].map(text => make('th', { scope: 'col', textContent: text })));
            const parts = rows.length ? [make('div', { className: 'hv-wide', tabIndex: 0, role: 'region', 'aria-label': 'Barriers' }, make('table', {}, make('thead', {}, head), make('tbody', {}, ...rows)))] : [];
            const issues = [...new Set([...state.flying].map(copy => events.issues.get(copy)))];
            const flights = issues.filter(issue => events.warp(issue) >> 5 === this.rank);
            parts.push(make('p', { textContent: flights.length ? 'In flight:' : 'No copy is in flight.' }));
            if (flights.length) parts.push(make('ul', {}, ...flights.slice(0, MOST_ITEMS).map(issue => make('li', {
                textContent: `${words.what(recording, events, issue).replace('issues ', '')}; issued by ${words.who(events, issue)} at event ${issue}` }))));
            parts.push(...this.#groups());
            const waiting = events.warps.filter(warp => warp >> 5 === this.rank && state.warp(warp).wait >= 0);
            if (waiting.length) parts.push(make('ul', {}, ...waiting.map(warp => make('li', {
                textContent: `Warp ${warp % 32} ${words.waitsFor(recording, events, state.warp(warp).wait)}` }))));
            if (state.dead) parts.push(make('p', { textContent: 'Nobody can go on: a deadlock.' }));
            this.facts.replaceChildren(...parts);
        }
        /** The groups of the chosen warp's threads: those of lanes that agree are one entry. */
        #groups() {
            const warp = Number(this.warp.select.value), entries = new Map();
            this.recording.names.completions.forEach((name, completion) => {
                for (let lane = 0; lane < 32; ++lane) {
                    const { committed, observed, read } = this.state.group(warp, lane, completion);
                    if (committed < 0) continue;
                    const done = Math.max(observed, -1);
                    const text = `${name}s: ${committed + 1} committed, ${done + 1} waited for${read > done ? `, of ${read + 1} the source` : ''}`;
                    entries.set(text, [...(entries.get(text) ?? []), lane]);
                }
            });
            if (!entries.size) return [];
            return [make('ul', {}, ...[...entries].slice(0, MOST_ITEMS).map(([text, lanes]) => make('li', {
                textContent: `Warp ${warp % 32}, ${lanes.length === 1 ? `lane ${lanes[0]}` : viewer.words.plural(lanes.length, 'lane')}: ${text}` })))];
        }
        #drawTable() {
            const { recording, events, event } = this, words = viewer.words;
            const first = Math.max(0, Math.min(event - (TABLE_ROWS >> 1), events.count - TABLE_ROWS));
            const rows = [];
            for (let at = first; at < Math.min(first + TABLE_ROWS, events.count); ++at) {
                const cells = [String(at), words.who(events, at), words.what(recording, events, at), words.where(recording, events, at)];
                const row = make('tr', { onclick: () => this.go(at) }, ...cells.map(text => make('td', { textContent: text })));
                if (at === event) row.setAttribute('aria-current', 'true');
                rows.push(row);
            }
            const head = make('tr', {}, ...['event', 'who', 'what', 'line'].map(text => make('th', { scope: 'col', textContent: text })));
            this.table.replaceChildren(make('table', {}, make('caption', { textContent: `Events ${first} to ${first + rows.length - 1} of ${events.count - 1}` }),
                make('thead', {}, head), make('tbody', {}, ...rows)));
        }
        #drawRuns() {
            if (!this.runs.open || !this.sharedView.rows) return;
            const all = this.sharedView.runs(this.state, MOST_RUNS);
            const items = all.map(([begin, end, writer]) => make('li', {
                textContent: `Offsets ${begin} to ${end}: ${viewer.words.writers(this.recording, this.events, writer)}` }));
            if (!items.length) items.push(make('li', { textContent: 'Nothing has been written.' }));
            if (all.length === MOST_RUNS) items.push(make('li', { textContent: 'Further ones are not listed.' }));
            this.runs.lastElementChild.replaceChildren(...items);
        }
        /** Each finding with its places in the order of their events; those whose event is not known come last. */
        #showFindings() {
            this.places = [];
            const items = this.recording.findings.map(each => {
                const { finding } = each, index = this.#clusterOf(each);
                const places = finding.locations.map((place, i) => ({ place, at: index < 0 || each.places[i] < 0 ? Infinity : each.places[i] }));
                const buttons = places.sort((a, b) => a.at === b.at ? 0 : a.at - b.at).map(({ place, at }) => {
                    const text = `${place.file.split('/').at(-1)}:${place.line}: ${place.role}`;
                    if (at === Infinity) return make('li', { textContent: text });
                    const button = make('button', { type: 'button', textContent: `${text} (event ${at})`, onclick: () => this.#goTo([index, at]) });
                    this.places.push({ button, at: [index, at] });
                    return make('li', {}, button);
                });
                const late = index < 0 ? make('p', { textContent: 'Its moment is not in the recording.' }) : null;
                return make('div', { className: `hv-finding hv-${finding.severity}` },
                    make('p', {}, make('strong', { textContent: `${finding.severity} ${finding.name}` }), this.options.told ? '' : ` ${finding.message}`),
                    make('ul', {}, ...buttons), late);
            });
            this.findings.replaceChildren(...items);
            for (const button of this.findingButtons) button.hidden = !items.length;
        }
    }

    /** Shows a recording (an object, as moments.hpp has it) in an element. */
    viewer.open = (element, json, options = {}) => {
        const recording = new viewer.Recording(json);
        if (!recording.clusters.length) {
            element.replaceChildren(make('p', { textContent: 'The recording has no events.' }));
            return null;
        }
        const view = new Viewer(recording, { link: (cluster, event) => `#${cluster}.${event}`, ...options });
        element.replaceChildren(view.element);
        view.start();
        return view;
    };

    /** The same with compressed text in base64, for a page of its own: the fragment of its address names the moment. */
    viewer.openPacked = async (element, packed) => {
        const bytes = Uint8Array.from(atob(packed), letter => letter.charCodeAt(0));
        const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
        const view = viewer.open(element, await new Response(stream).json());
        const follow = () => view?.follow(location.hash.slice(1));
        addEventListener('hashchange', follow);
        follow();
        return viewer.page = view;
    };
})();
