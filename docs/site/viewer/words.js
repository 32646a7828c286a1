// Each event in words: who, what, where. The table of events and the line that screen readers hear are made of them.
'use strict';

(() => {
    const viewer = globalThis.hopperViewer ??= {};
    const plural = (count, what) => `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`;
    const offset = address => `offset ${address & 0xffffff}${address >> 24 ? ` of block ${address >> 24}` : ''}`;
    const ACCESSES = ['reads', 'writes', 'updates atomically'];
    const BARRIERS = ['block barrier', 'cluster barrier'];

    const barrierOf = (events, event) => {
        const kind = events.more(event, 0);
        return kind === 0 ? `${BARRIERS[0]} ${events.more(event, 1)}` : BARRIERS[kind];
    };
    const isProduct = (recording, events, event) =>
        recording.names.copies[events.more(events.issues.get(events.more(event, 0)) ?? event, 2)] === 'wgmma';
    const copiesOf = (recording, events, event) => {
        const first = events.more(event, 0), count = events.more(event, 1);
        const [one, more] = isProduct(recording, events, event) ? ['product', 'products'] : ['copy', 'copies'];
        return count === 1 ? `${one} ${first}` : `${more} ${first} to ${first + count - 1}`;
    };

    /** What each kind of event did; `instruction` and all that have no thread begin with a verb of their own. */
    const SAID = {
        instruction: (recording, events, event) => `executes ${recording.instruction(events.pc(event)).text}`,
        shared_access(recording, events, event) {
            const [kind, bytes, taken, fewest] = [0, 1, 2, 3].map(i => events.more(event, i));
            const addresses = events.addresses(event), low = Math.min(...addresses), high = Math.max(...addresses);
            const where = low === high ? offset(low) : `${offset(low)} to ${(high & 0xffffff) + bytes - 1}`;
            const waves = `${plural(taken, 'wavefront')}${taken > fewest ? `, where ${fewest} would do` : ''}`;
            return `${ACCESSES[kind]} ${plural(bytes, 'byte')} a lane of shared memory, ${where}: ${waves}`;
        },
        global_access(recording, events, event) {
            const [kind, bytes, sectors, array, at] = [0, 1, 2, 3, 4].map(i => events.more(event, i));
            return `${ACCESSES[kind]} ${plural(bytes, 'byte')} a lane of global memory, allocation ${array} from byte ${at}: ${plural(sectors, 'sector')}`;
        },
        fence: (recording, events, event) => recording.names.fences[events.more(event, 0)],
        barrier_arrive: (recording, events, event) => `comes to ${barrierOf(events, event)}`,
        barrier_complete: (recording, events, event) => `${barrierOf(events, event)} completes: who waits goes on`,
        mbarrier_init: (recording, events, event) =>
            `initialises ${recording.barrierName(events.more(event, 0))}: ${plural(events.more(event, 1), 'arrival')} end a phase`,
        mbarrier_inval: (recording, events, event) => `invalidates ${recording.barrierName(events.more(event, 0))}`,
        mbarrier_arrive(recording, events, event) {
            const [address, phase, count, bytes, copy, pending, missing] = [0, 1, 2, 3, 4, 5, 6].map(i => events.more(event, i));
            const parts = [];
            if (bytes > 0) parts.push(`announces ${plural(bytes, 'byte')}`);
            if (bytes < 0) parts.push(`brings ${plural(-bytes, 'byte')}`);
            if (count) parts.push(plural(count, 'arrival'));
            return `${copy ? `copy ${copy}: ` : ''}${parts.join(' and ') || 'changes nothing'} at ${recording.barrierName(address)}, phase ${phase}; `
                + `missing: ${plural(pending, 'arrival')}, ${plural(missing, 'byte')}`;
        },
        mbarrier_phase: (recording, events, event) =>
            `phase ${events.more(event, 1)} of ${recording.barrierName(events.more(event, 0))} completes`,
        mbarrier_observed: (recording, events, event) =>
            `sees that phase ${events.more(event, 1)} of ${recording.barrierName(events.more(event, 0))} has completed`,
        mbarrier_fresh: (recording, events, event) =>
            `passes ${recording.barrierName(events.more(event, 0))}: parity 1 counts as passed before the first phase ends`,
        issue(recording, events, event) {
            const kind = recording.names.copies[events.more(event, 2)], completion = recording.names.completions[events.more(event, 3)];
            const told = completion === 'mbarrier' ? `, told at ${recording.barrierName(events.more(event, 4))}`
                : completion === 'none' ? '' : `, in ${completion} ${events.more(event, 6)}`;
            const proxy = events.more(event, 8) ? 'async proxy' : 'generic proxy', { written, read } = events.pieces(event);
            const ends = [read.length ? ` from ${offset(read[0][0])}` : '', written.length ? ` to ${offset(written[0][0])}` : ''].join('');
            return `issues ${copiesOf(recording, events, event)}: ${kind}, ${plural(events.more(event, 7), 'byte')}${ends}, ${proxy}${told}`;
        },
        source_read: (recording, events, event) => `${copiesOf(recording, events, event)}: the source has been read`,
        landed: (recording, events, event) => `${copiesOf(recording, events, event)}: the ${isProduct(recording, events, event) ? 'results' : 'bytes'} are there`,
        commit: (recording, events, event) =>
            `commits ${recording.names.completions[events.more(event, 0)]} ${events.more(event, 1)}`,
        group_wait: (recording, events, event) =>
            `waits until no more than ${events.more(event, 1)} of its ${recording.names.completions[events.more(event, 0)]}s are under way`,
        group_observed: (recording, events, event) =>
            `has waited for ${recording.names.completions[events.more(event, 0)]}s up to ${events.more(event, 1)}${events.more(event, 2) ? ' (their sources)' : ''}`,
        wait: (recording, events, event) => viewer.words.waitsFor(recording, events, event),
        exit: () => 'ends',
        block_start: () => 'the block begins',
        block_exit: () => 'the block has ended',
        deadlock: () => 'nobody can go on',
    };

    viewer.words = {
        plural,
        /** "warp 3 (32 lanes)". */
        who(events, event) {
            const warp = events.warp(event);
            if (warp < 0) return '';
            const lanes = viewer.lanesIn(events.lanes(event)), first = viewer.firstLane(events.lanes(event));
            const block = events.blocks.length > 1 ? `block ${warp >> 5}, ` : '';
            return `${block}warp ${warp % 32} (${lanes === 1 ? `lane ${first}` : `${lanes} lanes`})`;
        },
        what: (recording, events, event) => SAID[events.kind(event)](recording, events, event),
        where: (recording, events, event) => (events.warp(event) < 0 ? '' : recording.place(events.pc(event))),
        waitsFor(recording, events, event) {
            const why = recording.names.waits[events.more(event, 1)];
            const at = why === 'an mbarrier' ? recording.barrierName(events.more(event, 2))
                : why === 'a block barrier' ? `block barrier ${events.more(event, 2)}` : why;
            return `waits for ${at}`;
        },
        /** Who wrote a word, by the event that did it. */
        writer(recording, events, event) {
            if (event < 0) return 'nobody has written it';
            const warp = `warp ${events.warp(event) % 32}`;
            if (events.kind(event) !== 'issue') return `written by ${warp}, generic proxy, event ${event}`;
            const proxy = events.more(event, 8) ? 'async proxy' : 'generic proxy';
            return `written by a ${recording.names.copies[events.more(event, 2)]} that ${warp} issued, ${proxy}, event ${event}`;
        },
        /** The same of the words of a run, which several events of one warp may have written. */
        writers: (recording, events, event) => viewer.words.writer(recording, events, event)
            .replace(events.kind(event) === 'issue' ? '' : /, event \d+$/, ''),
    };
})();
