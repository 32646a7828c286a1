// Shared memory at a moment: a row for each 128 bytes, a cell for each word, coloured by who wrote it and hatched where the async
// proxy did; above it how many words the access that happens now wants of each bank.
'use strict';

(() => {
    const viewer = globalThis.hopperViewer ??= {};
    const WORDS = 32, COLOURS = 8; // In a row; of warps.
    const BANKS = 34, MOST_HEIGHT = 302; // Pixels above the rows, and of all.

    /** The words of a block's shared memory that anything touches: [first, behind the last]; [0, 0] if nothing does. */
    function touched(events, rank) {
        let low = Infinity, high = 0;
        const take = (address, bytes) => {
            if (address >>> 24 !== rank) return;
            low = Math.min(low, address & 0xffffff);
            high = Math.max(high, (address & 0xffffff) + bytes);
        };
        for (let event = 0; event < events.count; ++event) {
            const kind = events.kind(event);
            if (kind === 'issue') {
                const { written, read } = events.pieces(event);
                [...written, ...read].forEach(([address, bytes]) => take(address, bytes));
            } else if (kind === 'shared_access') {
                const bytes = events.more(event, 1);
                events.eachAddress(event, address => take(address, bytes));
            } else if (kind === 'mbarrier_init') {
                take(events.more(event, 0), 8);
            }
        }
        return low < high ? [Math.floor(low / 128) * WORDS, Math.ceil(high / 4)] : [0, 0];
    }

    class SharedView {
        constructor(canvas, scroller, recording) {
            Object.assign(this, { canvas, scroller, recording, chosen: -1 });
        }
        choose(events, rank) {
            Object.assign(this, { events, rank, chosen: -1 });
            [this.first, this.end] = touched(events, rank);
            this.rows = Math.ceil((this.end - this.first) / WORDS);
            this.#measure();
        }
        #measure() {
            this.width = this.scroller.clientWidth;
            this.gutter = 52;
            this.cell = Math.max(5, Math.min(16, Math.floor((this.width - this.gutter) / WORDS)));
            const height = this.rows * this.cell + BANKS + 4;
            this.scroller.firstElementChild.style.height = `${height}px`;
            this.scroller.style.height = `${Math.min(height + 2, MOST_HEIGHT)}px`;
        }
        get bytes() { return 4 * (this.end - this.first); }

        /** The word at a place of the canvas, -1 if there is none. */
        wordAt(x, y) {
            const column = Math.floor((x - this.gutter) / this.cell);
            const row = Math.floor((y - BANKS + this.scroller.scrollTop) / this.cell);
            if (column < 0 || column >= WORDS || y < BANKS || row >= this.rows) return -1;
            const word = this.first + row * WORDS + column;
            return word < this.end ? word : -1;
        }
        address(word) { return this.rank * 2 ** 24 + 4 * word; }

        /** The words that an event touches, and those to which copies fly. */
        #touchedBy(event) {
            const { events } = this, words = new Set();
            const take = (address, bytes) => {
                if (address >>> 24 === this.rank)
                    for (let at = address & 0xfffffc; at < (address & 0xffffff) + bytes; at += 4) words.add(at >> 2);
            };
            const kind = events.kind(event);
            if (kind === 'shared_access') events.addresses(event).forEach(each => take(each, events.more(event, 1)));
            if (kind === 'issue') {
                const { written, read } = events.pieces(event);
                [...written, ...read].forEach(([address, bytes]) => take(address, bytes));
            }
            if (kind.startsWith('mbarrier')) take(events.more(event, 0), 8);
            return words;
        }
        #pieces(state) {
            const issues = new Set([...state.flying].map(copy => this.events.issues.get(copy)));
            return [...issues].flatMap(issue => this.events.pieces(issue).written)
                .filter(([address]) => address >>> 24 === this.rank);
        }

        draw(state, event) {
            if (!this.rows) return;
            if (this.scroller.clientWidth !== this.width) this.#measure();
            const height = this.scroller.clientHeight, pen = viewer.pen(this.canvas, this.width, height);
            const colour = viewer.colours(this.canvas);
            const top = this.scroller.scrollTop, firstRow = Math.floor(top / this.cell);
            pen.font = '11px ui-monospace, monospace';
            pen.textBaseline = 'middle';
            for (let row = firstRow; row < this.rows && (row - firstRow - 1) * this.cell < height; ++row)
                this.#row(pen, colour, state, row, BANKS + row * this.cell - top);
            for (const [address, bytes] of this.#pieces(state)) this.#flight(pen, colour, address, bytes, top, height);
            const now = this.#touchedBy(event);
            for (const word of now) this.#outline(pen, word, top, colour('--hv-now'), 2);
            if (this.chosen >= 0) this.#outline(pen, this.chosen, top, colour('--hv-text'), 3);
            pen.fillStyle = colour('--hv-back');
            pen.fillRect(0, 0, this.width, BANKS - 2);
            this.#banks(pen, colour, event, now);
        }
        #row(pen, colour, state, row, y) {
            const word = this.first + row * WORDS, every = Math.ceil(14 / this.cell);
            pen.fillStyle = colour('--hv-text');
            if (row % every === 0) pen.fillText(String(4 * word), 2, y + this.cell / 2);
            for (let column = 0; column < WORDS && word + column < this.end; ++column) {
                const writer = state.writer(this.address(word + column));
                const [name, pattern] = this.#style(writer);
                viewer.fill(pen, this.gutter + column * this.cell, y, this.cell - 1, this.cell - 1, colour(name), pattern, colour('--hv-stripe'));
            }
        }
        #style(writer) {
            if (writer < 0) return ['--hv-empty', ''];
            const { events } = this;
            if (events.kind(writer) !== 'issue') return [`--hv-warp${events.warp(writer) % COLOURS}`, ''];
            return events.more(writer, 8) ? ['--hv-async', 'slant'] : ['--hv-copy', 'dots'];
        }
        #place(word, top) {
            const at = word - this.first;
            return [this.gutter + (at % WORDS) * this.cell, BANKS + Math.floor(at / WORDS) * this.cell - top];
        }
        #outline(pen, word, top, colour, width) {
            const [x, y] = this.#place(word, top);
            pen.strokeStyle = colour;
            pen.lineWidth = width;
            pen.strokeRect(x + 0.5, y + 0.5, this.cell - 2, this.cell - 2);
            pen.lineWidth = 1;
        }
        /** Where a copy will write: the rows of its bytes, dashed. */
        #flight(pen, colour, address, bytes, top, height) {
            pen.strokeStyle = colour('--hv-text');
            pen.setLineDash([3, 3]);
            const last = ((address & 0xffffff) + bytes - 1) >> 2;
            for (let word = (address & 0xffffff) >> 2; word <= last;) {
                const rest = WORDS - (word - this.first) % WORDS, count = Math.min(rest, last - word + 1);
                const [x, y] = this.#place(word, top);
                if (y > -this.cell && y < height) pen.strokeRect(x - 0.5, y - 0.5, count * this.cell, this.cell);
                word += count;
            }
            pen.setLineDash([]);
        }
        /** A bar for each bank: how many words the access wants of it. */
        #banks(pen, colour, event, words) {
            pen.fillStyle = colour('--hv-text');
            pen.fillText('banks', 2, 12);
            const counts = new Array(WORDS).fill(0);
            const isAccess = this.events.kind(event) === 'shared_access';
            if (isAccess) for (const word of words) ++counts[word % WORDS];
            // Wide accesses go over the banks several times without a conflict.
            const fewest = isAccess && this.events.more(event, 2) > this.events.more(event, 3) ? this.events.more(event, 3) : Infinity;
            const most = Math.max(4, ...counts);
            counts.forEach((count, bank) => {
                const x = this.gutter + bank * this.cell, high = Math.round(count / most * (BANKS - 10));
                pen.fillStyle = colour(count > fewest ? '--hv-finding' : '--hv-now');
                pen.fillRect(x, BANKS - 6 - high, this.cell - 1, high);
                pen.fillStyle = colour('--hv-text');
                pen.fillRect(x, BANKS - 6, this.cell - 1, 1);
            });
        }

        /** What shared memory holds: [first byte, last byte, an event that wrote it] of each run of words by one warp or copy. */
        runs(state, most) {
            const runs = [], { events } = this;
            const whose = writer => (writer < 0 || events.kind(writer) === 'issue' ? writer : `warp ${events.warp(writer)}`);
            let begin = this.first, last = -1;
            for (let word = this.first; word <= this.end && runs.length < most; ++word) {
                const writer = word < this.end ? state.writer(this.address(word)) : -1;
                if (word < this.end && whose(writer) === whose(last)) continue;
                if (last >= 0) runs.push([4 * begin, 4 * word - 1, last]);
                [begin, last] = [word, writer];
            }
            return runs;
        }
    }

    viewer.SharedView = SharedView;
})();
