// What holds behind each event of a cluster: where warps are, what barriers and groups wait for, which copies are in flight, who
// wrote shared memory. A state is kept every few hundred events; the next one differs from it in a few pages.
'use strict';

(() => {
    const viewer = globalThis.hopperViewer ??= {};
    const EVERY = 512, EVERY_OF_MANY = 2048, MANY = 200_000; // Events between two states that are kept.
    const PAGE = 256; // Numbers that are copied together.

    /** Whole numbers by place; copies of it share the pages that neither has changed. */
    class Pages {
        constructor(size) {
            this.pages = [];
            for (let at = 0; at < size; at += PAGE) this.pages.push(new Int32Array(PAGE).fill(-1));
            this.own = new Uint8Array(this.pages.length).fill(1); // Pages that no copy shares.
        }
        get(place) { return this.pages[place >> 8][place & 255]; }
        set(place, value) {
            const page = place >> 8;
            if (!this.own[page]) {
                this.pages[page] = this.pages[page].slice();
                this.own[page] = 1;
            }
            this.pages[page][place & 255] = value;
        }
        copy() {
            const copy = Object.create(Pages.prototype);
            copy.pages = this.pages.slice();
            copy.own = new Uint8Array(this.own.length);
            this.own.fill(0); // What is shared now is neither's own.
            return copy;
        }
    }

    /** Fields of a warp, an mbarrier and a thread's groups. */
    const WARP = { last: 0, wait: 1, exited: 2, size: 4 };
    const BARRIER = { phase: 0, pending: 1, bytes: 2, expected: 3, valid: 4, size: 8 };
    const GROUP = { committed: 0, observed: 1, read: 2, size: 4 };
    const COMPLETIONS = 5;

    /** A state, and how events change it. `event`: the last one that it knows, -1 at the beginning. */
    class State {
        constructor(plan, from = null) {
            this.plan = plan;
            this.event = from?.event ?? -1;
            this.pages = from?.pages.copy() ?? new Pages(plan.size);
            this.flying = new Set(from?.flying); // Copies, by number.
            this.dead = from?.dead ?? false;
        }
        copy() { return new State(this.plan, this); }

        warp(track) { return this.#fields(this.plan.warpAt(track), WARP); }
        barrier(address) { return this.#fields(this.plan.barrierAt(address), BARRIER); }
        group(track, lane, completion) { return this.#fields(this.plan.groupAt(track, lane, completion), GROUP); }
        /** The event that wrote the word of shared memory at an address, -1 if none did. A copy's is that of its issue. */
        writer(address) { return this.pages.get(this.plan.wordAt(address)); }

        #fields(at, names) {
            const value = {};
            for (const [name, offset] of Object.entries(names)) if (name !== 'size') value[name] = this.pages.get(at + offset);
            return value;
        }

        apply(event) {
            const { events, does } = this.plan;
            this.event = event;
            const track = events.warp(event);
            if (track >= 0) {
                const at = this.plan.warpAt(track);
                this.pages.set(at + WARP.last, event);
                this.pages.set(at + WARP.wait, -1);
            }
            does[events.kindNumber(event)]?.call(this, event, events, track);
        }

        // ---- What each kind of event does.

        shared_access(event, events) {
            if (events.more(event, 0) === 0) return; // It reads.
            const bytes = events.more(event, 1);
            events.eachAddress(event, address => this.#write(address, bytes, event));
        }
        #write(address, bytes, event) {
            for (let at = address & ~3; at < address + bytes; at += 4) this.pages.set(this.plan.wordAt(at), event);
        }
        issue(event, events) {
            for (let i = 0; i < events.more(event, 1); ++i) this.flying.add(events.more(event, 0) + i);
        }
        landed(event, events) {
            for (let i = 0; i < events.more(event, 1); ++i) {
                const copy = events.more(event, 0) + i, issue = events.issues.get(copy);
                this.flying.delete(copy);
                if (issue === undefined) continue;
                const { written } = events.pieces(issue);
                // The lanes of one instruction have a copy and a piece each.
                const several = events.more(issue, 1) > 1;
                const mine = several ? written.slice(copy - events.more(issue, 0), copy - events.more(issue, 0) + 1) : written;
                for (const [address, bytes] of mine) this.#write(address, bytes, issue);
            }
        }
        mbarrier_init(event, events) {
            const at = this.plan.barrierAt(events.more(event, 0)), count = events.more(event, 1);
            [0, count, 0, count, 1].forEach((value, i) => this.pages.set(at + i, value));
        }
        mbarrier_inval(event, events) {
            this.pages.set(this.plan.barrierAt(events.more(event, 0)) + BARRIER.valid, 0);
        }
        mbarrier_arrive(event, events) {
            const at = this.plan.barrierAt(events.more(event, 0));
            this.pages.set(at + BARRIER.pending, events.more(event, 5));
            this.pages.set(at + BARRIER.bytes, events.more(event, 6));
        }
        mbarrier_phase(event, events) {
            const at = this.plan.barrierAt(events.more(event, 0)), next = events.more(event, 2);
            [events.more(event, 1) + 1, next, 0, next].forEach((value, i) => this.pages.set(at + i, value));
        }
        commit(event, events, track) {
            this.#threads(event, events, track, GROUP.committed, events.more(event, 1));
        }
        group_observed(event, events, track) {
            const field = events.more(event, 2) ? GROUP.read : GROUP.observed;
            this.#threads(event, events, track, field, events.more(event, 1));
        }
        #threads(event, events, track, field, value) {
            for (let rest = events.lanes(event) >>> 0; rest; rest = (rest & (rest - 1)) >>> 0) {
                const at = this.plan.groupAt(track, viewer.firstLane(rest), events.more(event, 0));
                this.pages.set(at + field, value);
            }
        }
        wait(event, events, track) {
            if (events.more(event, 0)) this.pages.set(this.plan.warpAt(track) + WARP.wait, event);
        }
        exit(event, events, track) {
            const at = this.plan.warpAt(track) + WARP.exited, before = this.pages.get(at);
            this.pages.set(at, (before === -1 ? 0 : before) + viewer.lanesIn(events.lanes(event)));
        }
        deadlock() { this.dead = true; }
    }

    /** Where everything stands in the pages: warps, mbarriers, groups, words of shared memory. */
    class Plan {
        constructor(events, sharedBytes) {
            this.events = events;
            this.does = events.kinds.map(kind => State.prototype[kind]);
            const ranks = events.blocks.length;
            this.tracks = 32 * ranks;
            this.sharedWords = Math.ceil(sharedBytes / 4);
            this.barriers = new Map();
            for (let event = 0; event < events.count; ++event)
                if (events.kinds[events.kindNumber(event)].startsWith('mbarrier') && !this.barriers.has(events.more(event, 0)))
                    this.barriers.set(events.more(event, 0), this.barriers.size);
            this.barrierBase = WARP.size * this.tracks;
            this.groupBase = this.barrierBase + BARRIER.size * this.barriers.size;
            this.wordBase = this.groupBase + GROUP.size * COMPLETIONS * 32 * this.tracks;
            this.size = this.wordBase + this.sharedWords * ranks;
        }
        warpAt(track) { return WARP.size * track; }
        barrierAt(address) { return this.barrierBase + BARRIER.size * this.barriers.get(address); }
        groupAt(track, lane, completion) { return this.groupBase + GROUP.size * (COMPLETIONS * (32 * track + lane) + completion); }
        wordAt(address) { return this.wordBase + this.sharedWords * (address >>> 24) + ((address & 0xffffff) >> 2); }
    }

    /** The states of a cluster. */
    class States {
        constructor(events, sharedBytes) {
            this.plan = new Plan(events, sharedBytes);
            this.every = events.count > MANY ? EVERY_OF_MANY : EVERY;
            this.kept = [new State(this.plan)];
            const state = this.kept[0].copy();
            for (let event = 0; event < events.count; ++event) {
                if (event && event % this.every === 0) this.kept.push(state.copy());
                state.apply(event);
            }
            this.now = null;
        }
        /** The state behind an event; good until the next call. */
        behind(event) {
            const isNear = this.now && this.now.event <= event && event - this.now.event <= this.every;
            if (!isNear) this.now = this.kept[Math.floor(event / this.every)].copy();
            while (this.now.event < event) this.now.apply(this.now.event + 1);
            return this.now;
        }
    }

    viewer.States = States;
})();
