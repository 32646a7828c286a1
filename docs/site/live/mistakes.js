// Kernels that are wrong on purpose: below a chapter's listing of one a button runs it in the page, and what the emulator finds
// stands at the lines; in the error catalogue each message has a button that shows a kernel which leads to it.
'use strict';

(() => {
    const page = document.querySelector('meta[name="hopper-live"]')?.content;
    if (!page || !globalThis.HopperListing) return;
    const { make, data, mistake } = hopperCapsules;
    const withoutExpectation = line => line.replace(/\s*\/\/ expect: \S+.*/, '');

    /** A listing of a mistake: there is nothing to break, and nothing right to compare with. */
    class MistakeListing extends HopperListing {
        constructor(fragment, file, set, name) {
            super(fragment, file);
            Object.assign(this, { set, name });
        }

        addBar(box) {
            super.addBar(box);
            this.runButton.textContent = 'See it happen';
            this.breakButton.remove();
            this.choices.remove();
            this.size.remove(); // It was recorded with one.
            this.runButton.hidden = this.order.hidden = false;
            globalThis.hopperWatch?.offer(this);
            this.saidBefore = [...this.fragment.querySelectorAll('.said')];
        }

        /** The rows' lines in the file, which marks what the emulator must find. */
        async prepare() {
            const { files } = await mistake(this.set, this.name);
            this.source = files[this.file]?.split('\n').map(withoutExpectation).join('\n');
            const lines = this.source.split('\n').map(line => line.trim());
            const first = lines.findIndex((_, at) => this.texts.every((text, i) => lines[at + i] === text));
            this.rows.forEach((row, i) => {
                row.dataset.text = this.texts[i];
                if (first >= 0) row.dataset.line = first + i + 1;
            });
        }

        async run() {
            const mine = this.turn = {};
            this.tellRun(null);
            const release = this.sayRunning();
            try {
                const shown = await mistake(this.set, this.name);
                if (shown.launch === undefined) return this.say(shown.why);
                await this.prepare();
                const how = { order: this.order.value, seed: 1 + Math.floor(Math.random() * 1e6) };
                const outcome = await shown.run(how);
                if (mine !== this.turn) return;
                this.stay(() => this.show(outcome));
                this.reveal();
                this.tellRun({ ...how, again: more => shown.run({ ...how, ...more }) });
            } catch (error) {
                if (mine === this.turn) this.say(error.reason === 'time' ? `${error.message}, and was stopped.` : error.message, 'wrong');
            } finally {
                release();
            }
        }

        show({ findings, instructions }) {
            this.saidBefore.forEach(note => note.remove()); // The run says it.
            const ran = `The kernel ran on the emulator: ${instructions.toLocaleString('en')} instructions, all threads together.`;
            if (!findings.length) return this.say(`${ran} Nothing was found in this order. That does not make the kernel right: try another.`);
            const count = findings.length === 1 ? 'A mistake was found' : `${findings.length} mistakes were found`;
            this.outcome.replaceChildren(
                make('p', { textContent: `${ran} ${count}; the lines are marked above.`, className: 'wrong' }),
                ...findings.map(finding => this.findingOf(finding)));
            this.blameAll(findings);
        }
    }

    const shownMistakes = [];
    for (const place of document.querySelectorAll('.mistake')) {
        const fragment = place.querySelector('.fragment'), file = place.querySelector('.origin')?.textContent.split(',')[0].trim();
        if (!fragment || !file) continue;
        const listing = new MistakeListing(fragment, file, page, place.dataset.mistake);
        listing.addBar(fragment.closest('.listing') ?? fragment);
        shownMistakes.push(listing);
    }
    globalThis.hopperMistakes = shownMistakes;

    // ---- The error catalogue.

    /** The kernel and its file: the lines of its definition, without what they say of the emulator's findings. */
    function definition(files, name) {
        for (const [file, text] of Object.entries(files)) {
            const lines = text.split('\n').map(withoutExpectation);
            const begins = at => /^[^/]*__global__/.test(lines[at]) && new RegExp(`\\b${name}\\(`).test(lines.slice(at, at + 4).join(' ').split('{')[0]);
            let head = lines.findIndex((_, at) => begins(at));
            if (head < 0) continue;
            if (lines[head - 1].startsWith('template')) --head;
            const end = lines.indexOf('}', head);
            const comment = lines.slice(0, head).findLastIndex(line => !line.startsWith('///'));
            return { file, line: head + 1, comment: lines.slice(comment + 1, head).map(line => line.slice(4)).join(' '), lines: lines.slice(head, end + 1) };
        }
        return null;
    }

    class Message {
        constructor(heading, name) {
            this.name = name;
            this.button = make('button', { type: 'button', className: 'live-run', textContent: 'See it happen' });
            this.button.setAttribute('aria-describedby', heading.id);
            this.place = make('div', { className: 'live-message' }, this.button);
            this.button.onclick = () => this.see();
            heading.after(make('div', { className: 'live' }, this.place));
        }

        /** Shows the kernel and runs it. */
        async see() {
            this.button.disabled = true;
            try {
                const { set, mistake: name, why } = (await data('catalogue', 'errors'))[this.name];
                if (why) return void this.place.replaceChildren(make('p', { textContent: `Not in a page: ${why}` }));
                const { files, kernel } = await mistake(set, name);
                const { file, line, comment, lines } = definition(files, kernel);
                const fragment = make('div', { className: 'fragment', tabIndex: 0 }, ...lines.map(text => make('div', { className: 'line', textContent: text || '\u00a0' })));
                this.place.replaceChildren(make('p', { textContent: comment }), make('div', { className: 'origin', textContent: `${file}, line ${line}` }), fragment);
                this.listing = new MistakeListing(fragment, file, set, name);
                this.listing.addBar(fragment);
                this.listing.runButton.textContent = 'Run again';
                this.listing.runButton.focus();
                await this.listing.run();
            } catch (error) {
                this.button.disabled = false;
                this.place.append(make('p', { className: 'wrong', textContent: error.message }));
            }
        }
    }

    if (page === 'errors') {
        const messages = [...document.querySelectorAll('h3[id^="errors-"], h4[id^="errors-"]')]
            .map(heading => [heading, heading.id.replace(/^errors-/, '')]);
        const section = document.getElementById('errors-what-the-emulator-says');
        globalThis.hopperMessages = messages
            .filter(([heading]) => section && section.compareDocumentPosition(heading) & Node.DOCUMENT_POSITION_FOLLOWING)
            .map(([heading, name]) => new Message(heading, name));
    }
})();
