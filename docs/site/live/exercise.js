// Exercises that can be edited, on a site that this machine serves to itself: `./workbook site --serve` adds this script and a
// token to each page. What is written is kept in the browser, and judged on this machine as `./workbook check` judges it; the
// file in the clone changes only where the reader saves it there.
'use strict';

(() => {
    const token = document.querySelector('meta[name="hopper-compile"]')?.content;
    if (!token) return;
    const store = (() => { try { return window.localStorage; } catch { return null; } })();

    /** An element with properties and children. */
    function make(tag, properties = {}, ...children) {
        const element = Object.assign(document.createElement(tag), properties);
        element.append(...children);
        return element;
    }

    async function ask(path, body) {
        let response;
        try {
            response = await fetch(path, {
                method: 'POST', headers: { 'Content-Type': 'application/json', 'X-Workbook-Token': token }, body: JSON.stringify(body),
            });
        } catch {
            throw new Error('The server does not answer: start ./workbook site --serve again, and load this page anew. Your text is kept.');
        }
        const answer = await response.json();
        if (answer.refused) throw new Error(`Refused: ${answer.refused}.`);
        return answer;
    }

    /** The editor of one exercise, below the listing of its skeleton. */
    class Bench {
        constructor(box) {
            this.name = box.dataset.exercise;
            this.details = box.querySelector('.skeleton');
            this.listing = this.details.querySelector('.listing') ?? this.details.querySelector('.fragment');
            const kept = this.kept();
            this.openButton = this.button(kept ? 'Go on with your text' : 'Edit and check', () => this.open());
            this.openButton.classList.add('bench-check');
            this.outcome = make('div', { className: 'bench-outcome' });
            this.outcome.setAttribute('role', 'status');
            this.node = make('div', { className: 'bench' }, make('div', { className: 'bench-bar' }, this.openButton), this.outcome);
            this.details.append(this.node);
        }

        button(textContent, pressed) {
            return make('button', { type: 'button', textContent, onclick: pressed });
        }

        // ---- What the browser keeps.

        get key() {
            return `exercise:${this.name}`;
        }

        /** {text, before, skeleton}: what the reader wrote, the text before it, and what the exercise was then; null if there is nothing. */
        kept() {
            try { return JSON.parse(store?.getItem(this.key) ?? 'null'); } catch { return null; }
        }

        keep() {
            try {
                const { skeleton, before, text: { value: text } } = this;
                if ([skeleton, undefined].includes(before) && text === skeleton) store.removeItem(this.key);
                else store.setItem(this.key, JSON.stringify({ text, before, skeleton }));
                this.note.textContent = '';
            } catch {
                this.note.textContent = `This browser keeps nothing: save what you want to have later in ${this.file}.`;
            }
        }

        // ---- The editor.

        async open() {
            this.openButton.disabled = true;
            try {
                const { text, file, mine } = await ask('/exercise', { exercise: this.name });
                Object.assign(this, { skeleton: text, file, mine });
                this.build();
                const kept = this.kept();
                this.before = kept?.before;
                this.show(kept?.text ?? text);
                if (kept && kept.skeleton !== text) this.say('The exercise has changed since you began this text. ‘As you got it’ shows the new one, and yours comes back with ‘Back to my text’.');
                this.text.focus();
            } catch (error) {
                this.openButton.disabled = false;
                this.say(error.message, 'wrong');
            }
        }

        build() {
            this.text = make('textarea', { spellcheck: false, wrap: 'off', autocapitalize: 'off', ariaLabel: `Your text of ${this.name}`, oninput: () => this.changed() });
            this.text.onkeydown = event => this.pressed(event);
            this.numbers = make('div', { className: 'bench-numbers', ariaHidden: 'true' });
            this.checkButton = this.button('Check', () => this.check());
            this.checkButton.className = 'bench-check';
            this.againButton = this.button('As you got it', () => this.swap(this.skeleton));
            this.backButton = this.button('Back to my text', () => this.swap(this.before));
            this.mineButton = this.button(`Take ${this.file}`, () => this.swap(this.mine));
            this.saveButton = this.button(`Save to ${this.file}`, () => this.save());
            this.note = make('p', { className: 'bench-note' });
            const said = `The exercise’s own judge checks it on this machine, as ./workbook check ${this.name} does. Your text stays in this browser; ` +
                `${this.file} changes only when you save to it, and what was there is kept. Ctrl+Enter checks.`;
            const bar = make('div', { className: 'bench-bar' }, this.checkButton, this.againButton, this.backButton, this.mineButton, this.saveButton);
            this.node.querySelector('.bench-bar').replaceWith(make('div', { className: 'bench-editor' }, this.numbers, this.text), bar,
                make('p', { className: 'bench-help', textContent: said }), this.note);
            this.listing.hidden = true;
            this.details.querySelector('summary').textContent = 'Your file';
        }

        /** Puts another text there; the one before comes back with a button. */
        swap(text) {
            this.before = this.text.value;
            this.show(text);
            this.text.focus();
        }

        show(text) {
            this.text.value = text;
            this.changed();
        }

        changed() {
            this.keep();
            this.mark([]);
            const now = this.text.value;
            this.againButton.hidden = now === this.skeleton;
            this.backButton.hidden = this.before === undefined || this.before === now || this.before === this.skeleton;
            this.mineButton.hidden = this.mine === null || this.mine === now || this.mine === this.skeleton;
            this.saveButton.hidden = this.mine === now;
        }

        pressed(event) {
            if (event.key !== 'Enter' || event.isComposing) return;
            if (event.ctrlKey || event.metaKey) {
                event.preventDefault();
                this.check();
            } else if (!event.shiftKey && this.text.selectionStart === this.text.selectionEnd) {
                const line = this.text.value.slice(0, this.text.selectionStart).split('\n').at(-1);
                const spaces = /^ */.exec(line)[0] + (/\{\s*$/.test(line) ? '    ' : '');
                // The only way that can be undone with Ctrl+Z.
                if (document.execCommand('insertText', false, `\n${spaces}`)) event.preventDefault();
            }
        }

        /** The numbers of the lines; those that the verdict speaks of have a sign and a strip. */
        mark(marks) {
            const count = this.text.value.split('\n').length, blamed = new Map(marks.map(({ line, text }) => [line, text]));
            this.text.rows = count;
            this.numbers.replaceChildren(...Array.from({ length: count }, (_, i) => make('div', {
                textContent: `${blamed.has(i + 1) ? '▲ ' : ''}${i + 1}`, className: blamed.has(i + 1) ? 'blamed' : '', title: blamed.get(i + 1) ?? '',
            })));
        }

        goTo(line) {
            const lines = this.text.value.split('\n'), begin = lines.slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0);
            this.text.focus();
            this.text.setSelectionRange(begin, begin + (lines[line - 1] ?? '').length);
            this.numbers.children[line - 1]?.scrollIntoView({ block: 'nearest' });
        }

        // ---- What comes of it.

        say(text, className = '') {
            this.outcome.replaceChildren(make('p', { textContent: text, className }));
        }

        async check() {
            if (this.checkButton.getAttribute('aria-disabled') === 'true') return;
            this.checkButton.setAttribute('aria-disabled', 'true'); // Disabled, it would lose the focus.
            this.mark([]);
            this.say('Compiling and judging… The first time the judge itself is built, which takes longer.');
            const source = this.text.value;
            try {
                const verdict = await ask('/check', { exercise: this.name, source });
                this.tell(verdict);
                if (this.text.value === source) this.mark(verdict.marks);
            } catch (error) {
                this.say(error.message, 'wrong');
            } finally {
                this.checkButton.removeAttribute('aria-disabled');
            }
        }

        tell({ passed, finding, said, marks }) {
            const [head, ...rest] = said;
            const parts = [make('p', { textContent: head.text, className: passed ? 'right' : 'wrong' })];
            for (const { text, indent, code } of rest) {
                const part = make(code ? 'pre' : 'p', { textContent: text });
                part.style.marginLeft = `${indent}ch`;
                parts.push(part);
            }
            if (marks.length)
                parts.push(make('ul', { className: 'bench-marks' }, ...marks.map(({ line, text }) =>
                    make('li', {}, this.button(`▲ line ${line}`, () => this.goTo(line)), ` ${text}`))));
            if (finding) parts.push(make('p', {}, make('a', { href: `errors.html#errors-${finding}`, textContent: `What ${finding} means` })));
            if (passed && this.text.value !== this.mine)
                parts.push(make('p', { textContent: `Your progress is that of the command: save to ${this.file}, and ./workbook check ${this.name} counts it as solved.` }));
            this.outcome.replaceChildren(...parts);
        }

        async save() {
            const source = this.text.value;
            try {
                const { file, backup } = await ask('/save', { exercise: this.name, source });
                this.mine = source;
                this.changed();
                this.say(backup ? `Saved to ${file}. What was there is ${backup} now.` : `Saved to ${file}.`);
                this.text.focus();
            } catch (error) {
                this.say(error.message, 'wrong');
            }
        }
    }

    globalThis.hopperBenches = [...document.querySelectorAll('.exercise[data-exercise]')].map(box => new Bench(box));
})();
