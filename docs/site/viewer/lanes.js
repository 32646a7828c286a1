// Lanes of order: one for each warp, for copies and tensor cores, for each barrier, for the groups of each warp. A lane is a list
// of spans from event to event; only those that can be seen are drawn.
'use strict';

(() => {
    const viewer = globalThis.hopperViewer ??= {};
    const ROW = 18, MOST_HEIGHT = 262; // Pixels of a lane, and of all that are seen.
    const EVERY_BLOCK = -1; // Of a lane: it is shown with each.
    const MOST_ROWS = 10; // Lanes of copies in flight at the same time.

    /** Spans of a lane in the order of their begin: [begin, end, style, label]; the end is the first event behind it. */
    class Lane {
        constructor(name, block, warp = -1) {
            this.name = name;
            this.block = block;
            this.warp = warp;
            this.spans = [];
        }
        add(begin, end, style, label = '') { this.spans.push([begin, end, style, label]); }
        /** The span that an event lies in. */
        at(event) {
            const i = this.#firstEndingAfter(event);
            return i < this.spans.length && this.spans[i][0] <= event ? this.spans[i] : null;
        }
        /** Calls `draw` for what can be told apart between two events, if a pixel is `step` events wide. */
        visible(from, to, step, draw) {
            for (let i = this.#firstEndingAfter(from); i < this.spans.length && this.spans[i][0] < to;) {
                draw(this.spans[i]);
                const next = Math.max(this.spans[i][1], this.spans[i][0] + step);
                i = Math.max(i + 1, step > 1 ? this.#firstEndingAfter(next) : i + 1);
            }
        }
        #firstEndingAfter(event) {
            let low = 0, high = this.spans.length;
            while (low < high) {
                const middle = (low + high) >> 1;
                if (this.spans[middle][1] > event) high = middle;
                else low = middle + 1;
            }
            return low;
        }
    }

    /** Makes the lanes of a cluster in one pass over its events. */
    class Builder {
        constructor(recording, events) {
            Object.assign(this, { recording, events });
            this.warps = new Map(events.warps.map(warp => [warp, new Lane(`warp ${warp % 32}`, warp >> 5, warp)]));
            this.open = new Map(); // What has begun and not ended, by a name.
            this.barriers = new Map();
            this.groups = new Map();
            this.flights = [];
            this.landings = new Map(); // By the event of the issue: how many copies are under way.
        }

        lanes() {
            const { events } = this;
            for (let event = 0; event < events.count; ++event) {
                const warp = events.warp(event);
                if (warp >= 0) this.#ran(warp, event);
                this[events.kind(event)]?.(event);
            }
            for (const warp of this.warps.keys()) this.#close(`warp ${warp}`, events.count);
            for (const name of [...this.open.keys()]) this.#close(name, events.count);
            for (const issue of this.landings.keys()) this.#flight(issue, events.count);
            const sorted = map => [...map.values()];
            return [...sorted(this.warps), ...this.#packed(), ...sorted(this.barriers), ...sorted(this.groups)];
        }

        #begin(name, lane, event, style, label) { this.open.set(name, { lane, event, style, label }); }
        #close(name, event) {
            const begun = this.open.get(name);
            this.open.delete(name);
            if (begun && event > begun.event) begun.lane.add(begun.event, event, begun.style, begun.label);
        }
        #ran(warp, event) {
            const name = `warp ${warp}`, lane = this.warps.get(warp);
            if (this.open.get(name)?.style === 'wait') this.#close(name, event);
            if (!this.open.has(name)) this.#begin(name, lane, event, 'run', '');
        }
        #lane(map, name, block) {
            if (!map.has(name)) map.set(name, new Lane(name, block));
            return map.get(name);
        }
        #mbarrier(address) {
            return this.#lane(this.barriers, this.recording.barrierName(address), address >>> 24);
        }

        // ---- What each kind of event begins or ends.

        wait(event) {
            if (!this.events.more(event, 0)) return;
            const warp = this.events.warp(event), name = `warp ${warp}`;
            this.#close(name, event);
            this.#begin(name, this.warps.get(warp), event, 'wait', viewer.words.waitsFor(this.recording, this.events, event));
        }
        exit(event) {
            const warp = this.events.warp(event);
            if (this.events.of(warp).at(-1) === event) this.#close(`warp ${warp}`, event + 1);
        }
        mbarrier_init(event) { this.#phase(event, 0); }
        mbarrier_inval(event) { this.#close(`mbarrier ${this.events.more(event, 0)}`, event); }
        mbarrier_phase(event) { this.#phase(event, this.events.more(event, 1) + 1); }
        #phase(event, phase) {
            const address = this.events.more(event, 0), name = `mbarrier ${address}`;
            this.#close(name, event);
            this.#begin(name, this.#mbarrier(address), event, `parity${phase & 1}`, `phase ${phase}, parity ${phase & 1}`);
        }
        barrier_arrive(event) {
            const { events } = this, ofBlock = events.more(event, 0) === 0, rank = ofBlock ? events.warp(event) >> 5 : 0;
            const name = ofBlock ? `block barrier ${events.more(event, 1)}` : 'cluster barrier', key = `${name} ${rank}`;
            if (!this.barriers.has(key)) this.barriers.set(key, new Lane(name, ofBlock ? rank : EVERY_BLOCK));
            if (!this.open.has(key)) this.#begin(key, this.barriers.get(key), event, 'gather', 'arriving');
        }
        barrier_complete(event) {
            const { events } = this, ofBlock = events.more(event, 0) === 0;
            this.#close(ofBlock ? `block barrier ${events.more(event, 1)} ${events.more(event, 2)}` : 'cluster barrier 0', event + 1);
        }
        commit(event) {
            const { events } = this, warp = events.warp(event), kind = this.recording.names.completions[events.more(event, 0)];
            const key = `${kind} ${warp}`, group = events.more(event, 1), name = `${key} ${group}`;
            if (!this.groups.has(key)) this.groups.set(key, new Lane(`${kind}s, warp ${warp % 32}`, warp >> 5, warp));
            if (!this.open.has(name)) this.#begin(name, this.groups.get(key), event, `parity${group & 1}`, `group ${group}`);
        }
        group_observed(event) {
            const { events } = this, kind = this.recording.names.completions[events.more(event, 0)];
            if (events.more(event, 2)) return;
            const name = group => `${kind} ${events.warp(event)} ${group}`, last = events.more(event, 1);
            let first = last;
            while (this.open.has(name(first - 1))) --first;
            for (let group = first; group <= last; ++group) this.#close(name(group), event + 1);
        }
        issue(event) { this.landings.set(event, this.events.more(event, 1)); }
        landed(event) {
            const { events } = this;
            for (let i = 0; i < events.more(event, 1); ++i) {
                const issue = events.issues.get(events.more(event, 0) + i), left = (this.landings.get(issue) ?? 0) - 1;
                if (left > 0) this.landings.set(issue, left);
                else if (left === 0) this.#flight(issue, event + 1);
            }
        }
        #flight(issue, end) {
            this.landings.delete(issue);
            this.flights.push([issue, end]);
        }

        /** Copies in as many lanes as fly at the same time; those of tensor cores are lanes of their own. */
        #packed() {
            const lanes = [], { events, recording } = this;
            const ends = new Map();
            for (const [issue, end] of this.flights.sort((a, b) => a[0] - b[0])) {
                const kind = recording.names.copies[events.more(issue, 2)], rank = events.warp(issue) >> 5;
                const what = kind === 'wgmma' ? 'tensor cores' : 'copies', key = `${what} ${rank}`;
                if (!ends.has(key)) ends.set(key, []);
                const rows = ends.get(key);
                let row = rows.findIndex(each => each.end <= issue);
                if (row < 0 && rows.length < MOST_ROWS) row = rows.push({ end: 0, lane: new Lane(what, rank) }) - 1;
                if (row < 0) continue; // Too many to be told apart: the table has them.
                rows[row].end = end;
                const label = `${kind}, ${events.more(issue, 7).toLocaleString('en')} bytes`;
                rows[row].lane.add(issue, end, events.more(issue, 8) ? 'async' : 'copy', label);
            }
            for (const rows of ends.values()) lanes.push(...rows.map(({ lane }) => lane));
            return lanes.sort((a, b) => a.block - b.block);
        }
    }

    /** What a style looks like: colour, and a pattern so that nothing is said by colour alone. */
    const STYLES = {
        run: ['--hv-run', ''], wait: ['--hv-wait', 'slant'], copy: ['--hv-copy', ''], async: ['--hv-async', 'slant'],
        parity0: ['--hv-phase', ''], parity1: ['--hv-phase', 'dots'], gather: ['--hv-wait', 'dots'],
    };

    /** Draws the lanes of a block between two events. */
    class LaneView {
        constructor(canvas, scroller) {
            Object.assign(this, { canvas, scroller, lanes: [], shown: [], from: 0, to: 1 });
        }
        take(lanes) { this.all = lanes; }
        choose(block) {
            this.shown = this.all.filter(lane => lane.block === block || lane.block === EVERY_BLOCK);
            const height = this.shown.length * ROW + 4;
            this.scroller.firstElementChild.style.height = `${height}px`;
            this.scroller.style.height = `${Math.min(height + 2, MOST_HEIGHT)}px`;
        }
        get gutter() { return this.width < 500 ? 104 : 168; }
        /** Which event is at a place of the canvas. */
        eventAt(x) { return Math.floor(this.from + (x - this.gutter) / (this.width - this.gutter) * (this.to - this.from)); }
        laneAt(y) { return this.shown[Math.floor((y + this.scroller.scrollTop) / ROW)]; }

        draw(event, marks) {
            const { canvas } = this, height = this.scroller.clientHeight;
            this.width = this.scroller.clientWidth;
            const pen = viewer.pen(canvas, this.width, height);
            const colour = viewer.colours(canvas);
            const scale = (this.width - this.gutter) / (this.to - this.from);
            const x = at => this.gutter + (at - this.from) * scale;
            const top = this.scroller.scrollTop, first = Math.floor(top / ROW);
            pen.font = '12px system-ui, sans-serif';
            pen.textBaseline = 'middle';
            for (let i = first; i < this.shown.length && i * ROW - top < height; ++i)
                this.#lane(pen, colour, this.shown[i], i * ROW - top, x, scale, event);
            this.#line(pen, x(event + 0.5), height, colour('--hv-now'), []);
            for (const [at] of marks) this.#line(pen, x(at + 0.5), height, colour('--hv-finding'), [4, 3]);
        }
        #lane(pen, colour, lane, y, x, scale, event) {
            const cut = viewer.cut(pen, lane.name, this.gutter - 8);
            pen.fillStyle = colour('--hv-text');
            pen.fillText(cut, 2, y + ROW / 2);
            pen.save();
            pen.beginPath();
            pen.rect(this.gutter, y, this.width - this.gutter, ROW);
            pen.clip();
            // Neighbours too narrow for a pattern are one rectangle where they have one colour: a lane of a million events has many.
            let narrow = null;
            const flush = () => {
                if (narrow) viewer.fill(pen, narrow.left, y + 2, narrow.right - narrow.left, ROW - 4, narrow.fill, '');
                narrow = null;
            };
            lane.visible(this.from, this.to, 1 / scale, ([begin, end, style, label]) => {
                const left = Math.max(x(begin), this.gutter - 2), right = Math.min(x(end), this.width + 2);
                const width = Math.max(right - left, 1), [name, pattern] = STYLES[style], fill = colour(name);
                if (width < 3) {
                    if (narrow?.fill !== fill || left - narrow.right >= 1) flush();
                    narrow = { left: narrow?.left ?? left, right: left + width, fill };
                    return;
                }
                flush();
                viewer.fill(pen, left, y + 2, width, ROW - 4, fill, pattern, colour('--hv-stripe'));
                if (begin <= event && event < end && width > 3) {
                    pen.strokeStyle = colour('--hv-text');
                    pen.strokeRect(left + 0.5, y + 2.5, width - 1, ROW - 5);
                }
                if (!label || width < 40) return;
                pen.fillStyle = colour('--hv-text');
                pen.fillText(viewer.cut(pen, label, width - 8), left + 4, y + ROW / 2);
            });
            flush();
            pen.restore();
        }
        #line(pen, x, height, colour, dashes) {
            if (x < this.gutter || x > this.width) return;
            pen.strokeStyle = colour;
            pen.lineWidth = 2;
            pen.setLineDash(dashes);
            pen.beginPath();
            pen.moveTo(x, 0);
            pen.lineTo(x, height);
            pen.stroke();
            pen.setLineDash([]);
            pen.lineWidth = 1;
        }
    }

    viewer.lanesOf = (recording, events) => new Builder(recording, events).lanes();
    viewer.LaneView = LaneView;
})();
