// A launch recorded moment by moment, as common/emulator/include/hopper_emulator/moments.hpp describes it: lists of numbers,
// one for each event of a cluster. Plain scripts rather than modules, because a page from file:// may load no module.
'use strict';

(() => {
    const viewer = globalThis.hopperViewer ??= {};

    /** Places of the numbers that every event begins with, and of its own first one. */
    const KIND = 1, WARP = 2, PC = 3, LANES = 4, MORE = 5;

    /** The events of one cluster, by number from 0. */
    class ClusterEvents {
        /** @param {object} cluster One of the recording's `clusters`. @param {string[]} kinds Names of the moments. */
        constructor(cluster, kinds) {
            this.cluster = cluster.cluster;
            this.blocks = cluster.blocks;
            this.cut = cluster.cut;
            this.kinds = kinds;
            this.numbers = cluster.events;
            const begins = [];
            for (let at = 0; at < this.numbers.length; at += this.numbers[at] + 1) begins.push(at);
            this.begins = Uint32Array.from(begins);
            this.count = begins.length;
            this.byWarp = new Map();
            this.issues = new Map(); // By the number of a copy: the event that issued it.
            this.#index();
        }

        kind(event) { return this.kinds[this.numbers[this.begins[event] + KIND]]; }
        kindNumber(event) { return this.numbers[this.begins[event] + KIND]; }
        /** Rank of the block × 32 + number of the warp; -1: no thread did it. */
        warp(event) { return this.numbers[this.begins[event] + WARP]; }
        pc(event) { return this.numbers[this.begins[event] + PC]; }
        /** As an unsigned number, lane 0 lowest. */
        lanes(event) { return this.numbers[this.begins[event] + LANES]; }
        /** What the kind of the event says beyond that. */
        more(event, place) { return this.numbers[this.begins[event] + MORE + place]; }
        moreCount(event) { return this.numbers[this.begins[event]] - (MORE - 1); }

        /** [address, bytes] of the shared memory that a copy writes and reads. */
        pieces(event) {
            const list = from => Array.from({ length: this.more(event, from) },
                (_, i) => [this.more(event, from + 1 + 2 * i), this.more(event, from + 2 + 2 * i)]);
            return { written: list(9), read: list(10 + 2 * this.more(event, 9)) };
        }

        /** Calls `take` for the shared address of each lane that takes part in an access. */
        eachAddress(event, take) {
            const regular = this.more(event, 4), count = regular ? viewer.lanesIn(this.lanes(event)) : this.moreCount(event) - 5;
            const first = this.more(event, 5), step = regular ? this.more(event, 6) : 0;
            for (let i = 0; i < count; ++i) take(regular ? first + i * step : this.more(event, 5 + i));
        }
        addresses(event) {
            const all = [];
            this.eachAddress(event, address => all.push(address));
            return all;
        }

        /** The events of a warp, in order. */
        of(warp) { return this.byWarp.get(warp) ?? []; }

        #index() {
            const issue = this.kinds.indexOf('issue');
            for (let event = 0; event < this.count; ++event) {
                const warp = this.warp(event);
                if (warp >= 0) {
                    if (!this.byWarp.has(warp)) this.byWarp.set(warp, []);
                    this.byWarp.get(warp).push(event);
                }
                if (this.kindNumber(event) === issue)
                    for (let i = 0; i < this.more(event, 1); ++i) this.issues.set(this.more(event, 0) + i, event);
            }
            this.warps = [...this.byWarp.keys()].sort((a, b) => a - b);
        }
    }

    /** A recording; `clusters` are its ClusterEvents. */
    class Recording {
        constructor(json) {
            Object.assign(this, json);
            this.clusters = json.clusters.filter(each => each.events.length)
                .map(each => new ClusterEvents(each, json.names.moments));
            this.lines = json.files.map(([, text]) => text.split('\n'));
        }

        /** {text, file, line, callers} of an instruction; `file` is a number of `files`. */
        instruction(pc) {
            const [text, file, line, callers] = this.instructions[pc] ?? ['', -1, 0, []];
            return { text, file, line, callers };
        }
        /** "ring.cu:12", or "" if no line is known. */
        place(pc) {
            const { file, line } = this.instruction(pc);
            return file < 0 ? '' : `${this.files[file][0].split('/').at(-1)}:${line}`;
        }
        /** What is found at or around the events of a cluster: those whose moment is known. */
        findingsOf(events) {
            return this.findings.filter(each => each.cluster === events.cluster && each.event >= 0);
        }
        barrierName(address) {
            const name = this.barriers[address] ?? `offset ${address & 0xffffff}`;
            return address >> 24 ? `${name} of block ${address >> 24}` : name;
        }
    }

    viewer.lanesIn = mask => {
        let count = 0;
        for (let rest = mask >>> 0; rest; rest = (rest & (rest - 1)) >>> 0) ++count;
        return count;
    };
    viewer.firstLane = mask => 31 - Math.clz32(mask & -mask);
    viewer.Recording = Recording;
})();
