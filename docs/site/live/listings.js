// Run and break the kernels of a chapter's listings. Below each listing with a kernel there is a button that runs it in the
// page, on the emulator, with the inputs of a recorded launch; lines that a tested mutant changes have a mark that breaks them.
// What came of it stands below the listing and at its lines.
'use strict';

(() => {
    const chapter = document.querySelector('meta[name="hopper-live"]')?.content;
    if (!chapter || !HopperEmulator.isPossible) return;
    const { make, data, bytesOf, withCapsule } = hopperCapsules;
    // Of the inputs: the first belongs to the chapter's launches; the others are files that are loaded when they are chosen.
    const sizes = (document.querySelector('meta[name="hopper-live"]').dataset.sizes ?? '').split(' ').map(Number);

    const MOST_SAID = 60; // Characters of what a mutant changes.
    const BESIDE = 40; // Pixels that are left beside it where a listing is scrolled to it.

    // ---- The emulator with the chapter's capsule.

    const results = new Map(); // By size and launch: what the right kernel leaves in memory.

    /** Calls `use(emulator, launches)` with the chapter's launches of a size. */
    const withLaunches = (size, use) => withCapsule(`${chapter}/${size}`,
        async () => bytesOf((await data(size === sizes[0] ? 'launches' : `size_${size}`, chapter)).capsule), use);

    /** The launches of the capsule, as the emulator lists them. */
    const launches = size => withLaunches(size, (_, list) => list);

    const run = ({ size, ...settings }) => withLaunches(size, emulator => emulator.run(settings));

    const sizeWords = size => `${size.toLocaleString('en')} elements${size % 2 ? ', odd' : Number.isInteger(Math.log2(size)) ? ', a power of two' : ''}`;

    /** "gemm::staged_gemm<3>(int, …)": "staged_gemm". */
    const plainName = name => name.replace(/^void /, '').split(/[<(]/)[0].split('::').at(-1);

    /** What the right kernel of a launch leaves in memory: what every order and every mutant is compared with. */
    async function rightResult(size, launch) {
        const key = `${size}/${launch}`;
        if (!results.has(key)) results.set(key, (await run({ size, launch })).arrays);
        return results.get(key);
    }

    /** How many 4-byte words differ, of how many. */
    function differing(arrays, right) {
        let differ = 0, all = 0;
        arrays.forEach((array, i) => {
            const words = new Uint32Array(array, 0, array.byteLength >> 2);
            const others = new Uint32Array(right[i], 0, right[i].byteLength >> 2);
            words.forEach((word, at) => { differ += word !== others[at]; });
            all += words.length;
        });
        return { differ, all };
    }

    /** How many brackets of a text close what opens before it, and how many open what closes behind it. */
    function unmatched(text) {
        let depth = 0, lowest = 0;
        for (const letter of text) {
            if ('([{'.includes(letter)) ++depth;
            if (')]}'.includes(letter)) lowest = Math.min(lowest, --depth);
        }
        return { closing: -lowest, opening: depth - lowest };
    }

    /** What two lines do not have in common, as whole words and brackets, and where it begins: [of the first, of the second, begin]. */
    function difference(before, after) {
        if (before === after) return ['', '', 0];
        const least = Math.min(before.length, after.length);
        let begin = 0, same = 0;
        while (begin < least && before[begin] === after[begin]) ++begin;
        while (same < least - begin && before.at(-1 - same) === after.at(-1 - same)) ++same;
        const parts = () => [before, after].map(text => text.slice(begin, text.length - same));
        const some = which => parts().some(part => unmatched(part)[which]);
        for (;;) {
            if (begin && (/[^\s,;([{]/.test(before[begin - 1]) || some('closing'))) --begin;
            else if (same && (/[^\s,;)\]}]/.test(before.at(-same)) || some('opening'))) --same;
            else return [...parts(), begin];
        }
    }

    // ---- A listing.

    /** Kernels that are defined in a text. */
    const kernelsIn = text => [...text.matchAll(/__global__[^;{}()]*(?:\([^()]*\)[^;{}()]*)*?\b(\w+)\s*\((?=[^;]*\{)/g)]
        .map(match => match[1]).filter(name => !name.startsWith('__'));

    class Listing {
        constructor(fragment, file) {
            this.fragment = fragment;
            this.file = file;
            this.rows = [...fragment.querySelectorAll('.line')];
            this.texts = this.rows.map(row => row.textContent.replaceAll('\u00a0', '').trim());
            this.kernels = kernelsIn(this.texts.join('\n'));
            this.broken = null;
            this.marks = [];
        }

        /** Puts the buttons behind `box`. A part of a kernel runs only when it is broken. */
        addBar(box) {
            this.order = make('select', { ariaLabel: 'When copies land' },
                make('option', { value: 'late', textContent: 'copies land late' }),
                make('option', { value: 'early', textContent: 'copies land early' }),
                make('option', { value: 'random', textContent: 'copies land at random' }));
            this.size = make('select', { ariaLabel: 'Size of the input' }, ...sizes.map(value => make('option', { value, textContent: sizeWords(value) })));
            this.runButton = make('button', { type: 'button', className: 'live-run', textContent: 'Run' });
            this.runButton.onclick = () => this.run();
            this.breakButton = make('button', { type: 'button', className: 'live-break', textContent: 'Break it…' });
            this.breakButton.setAttribute('aria-expanded', 'false');
            this.breakButton.onclick = () => this.showMutants();
            this.mendButton = make('button', { type: 'button', className: 'live-mend', textContent: 'Mend it', title: 'The kernel as it was', hidden: true });
            this.mendButton.onclick = () => this.mend();
            this.outcome = make('div', { className: 'live-outcome' });
            this.outcome.setAttribute('role', 'status');
            this.choices = make('ul', { className: 'live-mutants', hidden: true });
            this.order.onchange = this.size.onchange = () => this.run();
            this.pressed = null; // What the reader has pressed in the listing; null: something in the bar.
            this.bar = make('div', { className: 'live-bar' }, this.runButton, this.size, this.order, this.breakButton, this.mendButton);
            this.offerRun(this.kernels.length > 0);
            box.after(make('div', { className: 'live' }, this.bar, this.choices, this.outcome));
        }

        offerRun(possible) {
            this.runButton.hidden = this.order.hidden = !possible;
            this.size.hidden = !possible || sizes.length < 2;
        }

        get elements() {
            return Number(this.size.value);
        }

        /** The launch to run: of the mutant's kernel if there is one, else of the listing's; null if it has none. */
        async launch() {
            const all = await launches(this.elements);
            const names = this.broken ? Object.keys(this.broken.kernels) : null;
            const fits = index => !names || names.includes(all[index].name);
            const indices = all.map((_, index) => index).filter(fits);
            return indices.find(index => this.kernels.includes(plainName(all[index].name))) ?? (names ? indices[0] : undefined);
        }

        /** Its launch: number, and the kernel's names; without a number if there is none. */
        async recorded() {
            const index = await this.launch();
            return index === undefined ? {} : { ...(await launches(this.elements))[index], index };
        }

        /** Runs a launch, perhaps with another kernel in its place: how it ran, and what show() takes. */
        async outcomeOf(index, replacement) {
            const size = this.elements, right = await rightResult(size, index);
            const { name, clocks } = (await launches(size))[index];
            const how = { size, launch: index, order: this.order.value, seed: this.seed ?? 1 + Math.floor(Math.random() * 1e6), replacement };
            this.seed = null;
            const result = await run(how);
            return { how, shown: [name, result, clocks && !replacement ? null : differing(result.arrays, right)] };
        }

        /** The same with a kernel that is none of the mutants, and its file. */
        async runReplaced(index, replacement) {
            this.tellRun(null);
            this.clear();
            this.broken = { file: replacement.file, source: replacement.source, edited: true };
            try {
                this.show(...(await this.outcomeOf(index, replacement)).shown);
            } finally {
                this.broken = null;
            }
        }

        async run() {
            const mine = this.turn = {};
            this.tellRun(null);
            const release = this.sayRunning();
            try {
                const { index, name } = await this.recorded();
                if (index === undefined) return this.say('The chapter’s program does not launch this kernel.');
                const replacement = this.broken && await this.replacementOf(name);
                const { how, shown } = await this.outcomeOf(index, replacement);
                if (mine !== this.turn) return;
                this.stay(() => this.show(...shown));
                this.reveal();
                // For what shows more of the same run (viewer/watch.js).
                this.tellRun({ ...how, again: more => run({ ...how, ...more }) });
            } catch (error) {
                if (mine === this.turn) this.say(error.reason === 'time' ? `${error.message}, and was stopped.` : error.message, 'wrong');
            } finally {
                release();
            }
        }

        /** `ran`: how it ran last; null: it runs now, or did not run. */
        tellRun(ran) {
            this.ran = ran;
            this.bar.parentElement.dispatchEvent(new CustomEvent('hopper-ran'));
        }

        /** Says that it runs. What it returns is for the end of the run. */
        sayRunning() {
            this.outcome.style.minHeight = `${this.outcome.offsetHeight}px`; // What stands below stays there meanwhile.
            this.stay(() => this.clear());
            this.say('Running on the emulator, in this page…');
            const release = this.hold(this.runButton);
            return () => {
                release();
                this.outcome.style.minHeight = '';
            };
        }

        /** Makes a change. What the reader has pressed stays where it is on the screen, however much the lines above it grow. */
        stay(change) {
            const pressed = this.pressed ?? this.bar, before = pressed.getBoundingClientRect();
            change();
            if (!before.height || before.bottom < 0 || before.top > innerHeight) return;
            scrollBy({ top: pressed.getBoundingClientRect().top - before.top, behavior: 'instant' });
        }

        /** Brings what came of it into view: its beginning, and as much more as leaves in view what was pressed. */
        reveal() {
            const { top, bottom, height } = this.outcome.getBoundingClientRect();
            const head = parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || 0;
            const room = (this.pressed ?? this.bar).getBoundingClientRect().top - head;
            const hidden = bottom + 12 - innerHeight, least = top + Math.min(height, 140) + 12 - innerHeight;
            const by = Math.max(Math.min(hidden, room), least);
            if (!height || by <= 0) return;
            scrollBy({ top: by, behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'instant' : 'smooth' });
        }

        /** Disables a button; what it returns enables it, and gives it back the focus that a browser takes from it. */
        hold(button) {
            const focused = document.activeElement === button;
            button.disabled = true;
            return () => {
                button.disabled = false;
                if (focused) button.focus({ preventScroll: true });
            };
        }

        /** The broken kernel as the emulator takes it. */
        async replacementOf(name) {
            const { begin, end } = await data('mutants', chapter);
            const { kernel, ptx } = this.broken.kernels[name];
            return { ptx: begin + ptx + end, kernel, file: this.broken.file, source: this.broken.source };
        }

        // ---- What came of it.

        clear() {
            this.marks.forEach(mark => mark.remove());
            this.marks = [];
            this.rows.forEach(row => row.classList.remove('live-blamed'));
        }

        say(text, className = '') {
            this.outcome.replaceChildren(make('p', { textContent: text, className }));
        }

        /** `compared`: with what the right kernel leaves; null for one that stores the time, of which an emulator has none. */
        show(name, result, compared) {
            const { differ, all } = compared ?? { differ: 0, all: 0 };
            const run = `${plainName(name)} ran on the emulator: ${result.instructions.toLocaleString('en')} instructions, all threads together`;
            const unseen = this.broken?.why && !differ && !result.findings.length;
            const wrong = differ ? `The result is wrong: ${differ.toLocaleString('en')} of ${all.toLocaleString('en')} words in memory are not as the right kernel leaves them.`
                : compared ? 'Memory is as the right kernel leaves it.' : 'It stores what a clock says, so results are not compared.';
            const parts = result.findings.map(finding => this.findingOf(finding));
            const found = result.findings.length === 1 ? 'A mistake was found' : `${result.findings.length} mistakes were found`;
            const summary = result.findings.length ? `${run}. ${found}.` : `${run}. No rule was broken. ${wrong}`;
            const good = !result.findings.length && !differ;
            const code = text => make('code', { textContent: text });
            const changed = this.changed ? [' (', ...this.changed.flatMap(([gone, fresh], i) => [i ? ', ' : '', code(gone), ' → ', code(fresh)]), ')'] : [];
            const why = this.broken?.why ? [make('p', {}, 'Broken on purpose', ...changed, `: ${this.broken.why}.`)] : [];
            this.outcome.replaceChildren(...why, make('p', { textContent: summary, className: good ? 'right' : 'wrong' }), ...parts);
            if (unseen) this.outcome.append(make('p', { textContent: `It is wrong all the same: these inputs do not show it, and those of the chapter’s tests do.${sizes.length > 1 ? ' Perhaps another size does.' : ''}` }));
            if (result.findings.length && differ) this.outcome.append(make('p', { textContent: wrong }));
            this.blameAll(result.findings);
        }

        blameAll(findings) {
            for (const { locations } of findings)
                for (const place of locations) {
                    this.blame(place, `▲ ${place.role}`);
                    const called = `${place.file.split('/').at(-1)}:${place.line}, ${place.role}`;
                    place.callers?.forEach(caller => this.blame(caller, `▲ from here: ${called}`));
                }
        }

        findingOf(finding) {
            const link = make('a', { href: `errors.html#errors-${finding.name}`, textContent: finding.name });
            // The line's own text where it is not to be seen above, as the reader has written it.
            const own = ({ file, line }) => this.broken?.edited && file === this.file ? [make('code', { textContent: this.broken.source.split('\n')[line - 1]?.trim() })] : [];
            const lines = finding.locations.map(place => make('li', {}, `${place.file}:${place.line}: ${place.role} `, ...own(place)));
            return make('div', { className: `live-finding ${finding.severity}` },
                make('p', {}, make('strong', {}, `${finding.severity} `, link), ` ${finding.message}`),
                make('ul', {}, ...lines), make('p', {}, make('strong', { textContent: 'What to do: ' }), finding.advice));
        }

        /** Says below the line, or below what a mutant has put in its place, what happened there, once. */
        blame(place, words) {
            if (place.file !== this.file) return;
            const row = this.rowOf(place.line);
            if (!row || row.classList.contains('live-blamed')) return;
            row.classList.add('live-blamed');
            const mark = make('div', { className: 'said', textContent: words });
            const fresh = row.nextElementSibling;
            (fresh?.matches('.live-added') ? fresh : row).after(mark);
            this.marks.push(mark);
        }

        /** The row that shows a line of the file, as the file is now (with the mutant, if one is chosen). */
        rowOf(line) {
            const source = this.broken?.file === this.file ? this.broken.source : this.source;
            const text = source?.split('\n')[line - 1]?.trim();
            if (!text) return undefined;
            const same = this.rows.filter(row => (row.dataset.now ?? row.dataset.text) === text);
            const changed = this.changedRows?.find(row => row.dataset.now?.includes(text));
            return same.length === 1 ? same[0] : same.find(row => Number(row.dataset.line) === line) ?? changed ?? same[0];
        }

        // ---- Mutants.

        async prepare() {
            const { files } = await data('launches', chapter);
            this.source = files[this.file];
            const lines = this.source.split('\n').map(line => line.trim());
            let at = 0;
            this.rows.forEach((row, index) => {
                row.dataset.text = this.texts[index];
                const found = this.texts[index] ? lines.indexOf(this.texts[index], at) : -1;
                if (found >= 0 && (found - at < 60 || index === 0)) {
                    row.dataset.line = found + 1;
                    at = found + 1;
                }
            });
        }

        /** Of the chapter's mutants those that change a line of this listing. */
        async mutants() {
            const { mutants } = await data('mutants', chapter);
            const shown = new Set(this.rows.map(row => Number(row.dataset.line)));
            const first = mutant => mutant.line + (/^\n*/.exec(mutant.find)[0].length);
            return mutants.filter(mutant => mutant.file === this.file && shown.has(first(mutant)));
        }

        async showMutants() {
            const release = this.hold(this.breakButton);
            try {
                if (!this.offered) {
                    await this.prepare();
                    const mutants = this.offered = await this.mutants();
                    this.choices.append(...mutants.map(mutant => this.choiceOf(mutant)));
                    if (!mutants.length) this.choices.append(make('li', { textContent: 'No tested mutant changes a line of this listing.' }));
                }
                this.choices.hidden = !this.choices.hidden;
                this.breakButton.setAttribute('aria-expanded', String(!this.choices.hidden));
            } catch (error) {
                this.say(error.message, 'wrong');
            } finally {
                release();
            }
        }

        choiceOf(mutant) {
            const button = make('button', { type: 'button', textContent: mutant.name, title: mutant.why });
            button.setAttribute('aria-pressed', 'false');
            const row = this.rows.find(each => Number(each.dataset.line) === mutant.line) ?? this.rows[0];
            const mark = make('button', { type: 'button', className: 'live-mark', textContent: '✂', title: mutant.name, ariaLabel: `Break it: ${mutant.name}` });
            button.onclick = () => this.choose(this.broken === mutant ? null : mutant);
            mark.onclick = () => this.choose(this.broken === mutant ? null : mutant, mark);
            row.prepend(mark);
            mutant.buttons = [button, mark];
            return make('li', {}, button);
        }

        /** Takes the mutant away, and runs; the keyboard goes on at Run. */
        mend() {
            (this.runButton.hidden ? this.breakButton : this.runButton).focus({ preventScroll: true });
            return this.choose(null);
        }

        /** Applies a mutant, or none, and runs. `pressed`: the mark that was pressed for it; null: something in the bar. */
        choose(mutant, pressed = null) {
            this.pressed = pressed;
            this.stay(() => this.apply(mutant));
            if (!this.runButton.hidden) return this.run();
            this.say('');
            return Promise.resolve();
        }

        apply(mutant) {
            this.mendButton.hidden = !mutant;
            for (const other of [this.broken, mutant])
                other?.buttons.forEach(button => button.setAttribute('aria-pressed', String(other === mutant)));
            this.changedRows?.forEach(row => {
                row.classList.remove('live-removed');
                row.nextElementSibling?.matches('.live-added') && row.nextElementSibling.remove();
                delete row.dataset.now;
            });
            this.broken = mutant;
            this.changedRows = [];
            this.changed = null;
            this.clear();
            if (this.broughtIn) this.fragment.scrollLeft = 0;
            this.broughtIn = false;
            if (mutant) this.change(mutant);
            this.offerRun(mutant !== null || this.kernels.length > 0);
        }

        /** Shows what the mutant changes: the old lines struck out, the new ones below. */
        change(mutant) {
            const before = this.source.split('\n'), after = mutant.source.split('\n');
            let first = 0, same = 0;
            while (before[first] === after[first]) ++first;
            while (same < Math.min(before.length, after.length) - first && before.at(-1 - same) === after.at(-1 - same)) ++same;
            const gone = before.slice(first, before.length - same), fresh = after.slice(first, after.length - same);
            const rows = gone.map((_, i) => this.rows.find(row => Number(row.dataset.line) === first + i + 1)).filter(Boolean);
            const last = rows.at(-1) ?? this.rows.find(row => Number(row.dataset.line) === first);
            rows.forEach(row => { row.classList.add('live-removed'); row.dataset.now = ''; });
            this.changedRows = rows.length ? rows : [last].filter(Boolean);
            if (!last) return;
            last.dataset.now = fresh.map(line => line.trim()).join(' ') || '';
            if (fresh.length) last.after(this.added(gone, fresh));
            if (!this.changedRows.includes(last)) this.changedRows.push(last);
            this.bringIn(this.fragment.querySelector('.live-change'));
        }

        /** The row with the new lines. What is another in them is marked, and kept to be said, where lines have changed by little. */
        added(before, after) {
            const row = make('div', { className: 'line live-added' });
            const changes = before.length === after.length ? before.map((line, i) => difference(line, after[i])) : [];
            const said = changes.map(([gone, fresh]) => [gone.trim(), fresh.trim()]).filter(([gone, fresh]) => gone !== fresh);
            if (!said.length || said.length > 3 || said.flat().some(text => !text || text.length > MOST_SAID)) {
                row.textContent = after.join('\n');
                return row;
            }
            this.changed = said;
            changes.forEach(([, fresh, begin], i) => row.append(i ? '\n' : '', after[i].slice(0, begin),
                ...(fresh ? [make('mark', { className: 'live-change', textContent: fresh })] : []), after[i].slice(begin + fresh.length)));
            return row;
        }

        /** Scrolls the listing sideways to what is changed, where it is out of sight. */
        bringIn(change) {
            if (!change) return;
            const box = this.fragment.getBoundingClientRect(), { left, right } = change.getBoundingClientRect();
            const by = Math.min(right - box.right + BESIDE, left - box.left - BESIDE);
            if (right <= box.right || by <= 0) return;
            this.fragment.scrollLeft += by;
            this.broughtIn = true;
        }
    }

    // ---- All of them.

    const listings = [];
    for (const origin of document.querySelectorAll('.origin')) {
        const box = origin.nextElementSibling; // site.js puts listings into boxes with a button to copy.
        const fragment = box?.matches('.fragment') ? box : box?.querySelector('.fragment');
        const file = origin.textContent.split(',')[0].trim();
        if (!fragment || !/\.cuh?$/.test(file) || /\bmistakes\.cu$/.test(file)) continue; // Those are for mistakes.js.
        const listing = new Listing(fragment, file);
        if (!listing.kernels.length && !/__device__/.test(fragment.textContent)) continue;
        listing.addBar(box);
        listings.push(listing);
    }
    globalThis.hopperListings = listings;
    globalThis.HopperListing = Listing;
})();
