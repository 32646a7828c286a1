// Listings that can be edited, on a site that this machine serves to itself: `./workbook site --serve` adds this script and a
// token to each page, compiles what is sent, and the result runs in the page. No file is changed.
'use strict';

(() => {
    const token = document.querySelector('meta[name="hopper-compile"]')?.content;
    if (!token || !globalThis.hopperListings) return;
    const { make } = hopperCapsules;

    async function compile(file, source) {
        const response = await fetch('/compile', {
            method: 'POST', headers: { 'Content-Type': 'application/json', 'X-Workbook-Token': token },
            body: JSON.stringify({ file, source }),
        });
        const answer = await response.json();
        if (answer.refused) throw new Error(answer.refused);
        return answer;
    }

    /** The editor of one listing: its lines of the file as text, and what the compiler says of them. */
    class Editor {
        constructor(listing) {
            this.listing = listing;
            this.button = make('button', { type: 'button', textContent: 'Edit' });
            this.button.setAttribute('aria-expanded', 'false');
            this.button.onclick = () => this.open();
            listing.bar.append(this.button);
        }

        async open() {
            const { listing } = this;
            if (!this.form && !await this.make()) return;
            const shown = this.form.hidden;
            this.form.hidden = !shown;
            this.button.setAttribute('aria-expanded', String(shown));
            if (shown) {
                if (listing.broken) listing.choose(null);
                this.text.focus();
            }
        }

        async make() {
            const { listing } = this;
            try {
                await listing.prepare();
            } catch (error) {
                listing.say(error.message, 'wrong');
                return false;
            }
            const all = listing.source.split('\n');
            this.first = Number(listing.rows[0].dataset.line) - 1;
            this.count = listing.rows.length;
            if (!listing.texts.every((text, at) => all[this.first + at]?.trim() === text)) {
                listing.say('This listing has several pieces of its file; only one that is in one piece can be edited.');
                return false;
            }
            this.text = make('textarea', {
                className: 'live-edit', spellcheck: false, rows: this.count + 1, wrap: 'off',
                value: all.slice(this.first, this.first + this.count).join('\n'),
                ariaLabel: `${listing.file} from line ${this.first + 1}`,
            });
            this.send = make('button', { type: 'button', className: 'live-run', textContent: 'Compile and run' });
            this.send.onclick = () => this.run();
            const again = make('button', { type: 'button', textContent: 'As it was' });
            again.onclick = () => { this.text.value = all.slice(this.first, this.first + this.count).join('\n'); };
            this.said = make('ol', { className: 'live-errors' });
            const hint = make('p', { textContent: 'Compiled on this machine, run in this page. Your files stay as they are.' });
            this.form = make('div', { hidden: true }, this.text, make('div', { className: 'live-bar' }, this.send, again), hint);
            listing.bar.after(this.form);
            return true;
        }

        async run() {
            const { listing } = this;
            const all = listing.source.split('\n');
            const mine = this.text.value.replace(/\n+$/, '').split('\n');
            const source = [...all.slice(0, this.first), ...mine, ...all.slice(this.first + this.count)].join('\n');
            this.said.replaceChildren();
            this.send.disabled = true;
            listing.clear();
            listing.say('Compiling, some seconds…');
            try {
                const { ptx, errors } = await compile(listing.file, source);
                if (errors) return this.tell(errors);
                await this.runCompiled({ ptx, source });
            } catch (error) {
                listing.say(error.message, 'wrong');
            } finally {
                this.send.disabled = false;
            }
        }

        async runCompiled({ ptx, source }) {
            const { listing } = this;
            const { index, name, kernel } = await listing.recorded();
            if (index === undefined) return listing.say('It compiles. The chapter’s program does not launch this kernel, so that there is nothing to run.');
            if (!new RegExp(`\\.entry\\s+${kernel.replace(/\$/g, '\\$')}\\b`).test(ptx))
                return listing.say(`It compiles, but it has no kernel ${name} any more; another name or other parameters are another kernel.`, 'wrong');
            return listing.runReplaced(index, { ptx, kernel, file: listing.file, source });
        }

        /** The compiler's errors; the first line that is in the listing is selected. */
        tell(errors) {
            const { listing } = this;
            listing.say('It does not compile:', 'wrong');
            const text = this.text.value, lines = text.split('\n');
            const items = errors.map(({ file, line, text: message }) => {
                const at = line - 1 - this.first, own = file === listing.file && at >= 0 && at < lines.length;
                return make('li', {}, make('code', { textContent: own ? lines[at].trim() : `${file}:${line}` }), ` ${own ? `line ${at + 1}: ` : ''}${message}`);
            });
            this.said.replaceChildren(...items);
            listing.outcome.append(this.said);
            const first = errors.map(({ file, line }) => file === listing.file ? line - 1 - this.first : -1).find(at => at >= 0 && at < lines.length);
            if (first === undefined) return;
            const begin = lines.slice(0, first).join('\n').length + (first ? 1 : 0);
            this.text.focus();
            this.text.setSelectionRange(begin, begin + lines[first].length);
        }
    }

    globalThis.hopperEditors = hopperListings.map(listing => new Editor(listing));
})();
