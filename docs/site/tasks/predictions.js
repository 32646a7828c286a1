// Questions that a reader answers before a run does. Answering runs the recorded launches in the page, on the emulator, and
// judges by what came out; where the page cannot run them it says what came out when the site was built.
'use strict';

(() => {
    const forms = [...document.querySelectorAll('form.predict')];
    if (!forms.length) return;
    const chapter = forms[0].dataset.chapter;
    const live = new URL('live/', document.currentScript?.src ?? document.baseURI).href;
    const store = (() => { try { return window.localStorage; } catch { return null; } })();
    const mostLaunches = 12; // Of an answer: a judge tries more sizes than anybody wants to wait for.
    const near = 0.03; // If no choice is exact. As in predictions.py.

    /** An element with properties and children. */
    function make(tag, properties = {}, ...children) {
        const element = Object.assign(document.createElement(tag), properties);
        element.append(...children);
        return element;
    }

    // ---- What runs, and the emulator: loaded when first needed.

    const scripts = new Map();

    function addScript(name) {
        if (!scripts.has(name))
            scripts.set(name, new Promise((resolve, reject) => document.head.append(make('script', {
                src: `${live}${name}`, onload: resolve, onerror: () => reject(new Error(`live/${name} is not there`)),
            }))));
        return scripts.get(name);
    }

    const bytesOf = base64 => Uint8Array.from(atob(base64), letter => letter.charCodeAt(0));
    let loaded = null;

    /** What live_predictions.py wrote: {capsules, questions}. */
    function data() {
        return loaded ??= addScript(`${chapter}_predictions.js`).then(async () => {
            const packed = bytesOf(globalThis.hopperLive[chapter].predictions);
            const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
            return JSON.parse(await new Response(stream).text());
        });
    }

    let emulator = null;
    let open = ''; // The capsule that it has.

    async function started() {
        if (!globalThis.HopperEmulator) {
            await addScript('emulator_worker.js');
            await addScript('emulator.js');
        }
        if (!HopperEmulator.isPossible) throw new Error('this browser cannot run the emulator');
        return emulator ??= new HopperEmulator({ directory: live, milliseconds: 10000 });
    }

    // ---- Runs.

    /** Findings with errors first, as the command line names them. */
    const ranked = findings => [...findings].sort((a, b) => isLast(a) - isLast(b));
    const isLast = finding => Number(['warning', 'note'].includes(finding.severity));

    /** The outcomes of a run's launches, until one has a finding. */
    async function outcomes({ capsule, launches, order }) {
        const machine = await started(), { capsules } = await data();
        if (open !== capsule) {
            open = '';
            await machine.load({ capsule: bytesOf(capsules[capsule]) });
            open = capsule;
        }
        const found = [];
        for (const launch of launches.slice(0, mostLaunches)) {
            found.push(await machine.run({ launch, order }));
            if (found.at(-1).findings.length) break;
        }
        return found;
    }

    const total = outcome => JSON.parse(outcome.countersText);

    function same(a, b) {
        const left = new Uint8Array(a), right = new Uint8Array(b);
        return left.length === right.length && left.every((byte, i) => byte === right[i]);
    }

    /** Whether counters meet a condition of the exercise's manifest, over these launches (common/cli/evidence.py). */
    function meets(condition, launches) {
        let mine = launches.filter(launch => launch.kernel.includes(condition.kernel));
        if (condition.launch) mine = mine.slice(condition.launch - 1, condition.launch);
        if (!mine.length) return true; // A later launch, which the page does not run.
        const [first, last] = condition.warps ?? [];
        const count = (launch, field) => !condition.warps || field === condition.per ? launch.total[field]
            : launch.warps.slice(first, last + 1).reduce((sum, warp) => sum + (warp[field] ?? 0), 0);
        const sum = field => field ? mine.reduce((all, launch) => all + count(launch, field), 0) : 0;
        const value = sum(condition.field) - sum(condition.less), per = condition.per ? sum(condition.per) : 1;
        if (!per && condition.bound !== 'at_most') return false;
        const limit = condition.limit * per;
        return { at_most: value <= limit, at_least: value >= limit, equals: value === limit }[condition.bound];
    }

    /** What is wrong with an answer, as nodes; nothing if it passes. */
    async function faultOf(run, question) {
        const mine = await outcomes(run);
        const finding = ranked(mine.flatMap(outcome => outcome.findings))[0];
        if (finding) return findingOf(finding);
        const right = await rightOf(question);
        if (mine.some((outcome, i) => outcome.arrays.some((array, k) => !right[i]?.[k] || !same(array, right[i][k]))))
            return [make('p', { textContent: 'Memory is not as the solution leaves it.' })];
        const counters = mine.map(total);
        const missed = question.conditions.find(condition => !meets(condition, counters));
        return missed ? [make('p', { textContent: `The results are right. ${missed.says}` })] : null;
    }

    /** What the solution leaves in memory, launch by launch. */
    const rightOf = question => question.results ??= outcomes(question.solution).then(all => all.map(({ arrays }) => arrays));

    function findingOf(finding) {
        const link = make('a', { href: `errors.html#${finding.name}`, textContent: finding.name });
        return [make('p', {}, make('strong', {}, `${finding.severity} `, link), ` ${finding.message}`),
            make('p', {}, make('strong', { textContent: 'What to do: ' }), finding.advice)];
    }

    /** Runs a question: what each run measured, and what is to be said of each. Null where the page cannot run. */
    async function measured(question, say) {
        const values = [], told = [];
        for (const [i, run] of question.runs.entries()) {
            say(question.runs.length > 1 ? `Running ${i + 1} of ${question.runs.length}…` : 'Running…');
            if (question.form === 'answers') {
                const fault = await faultOf(run, question);
                values.push(!fault);
                told.push(fault ?? [make('p', { textContent: 'Nothing is found, and the results are the solution’s.' })]);
                continue;
            }
            const found = await outcomes(run);
            if (question.form === 'finding') {
                const first = ranked(found.flatMap(outcome => outcome.findings))[0];
                values.push(first?.name ?? '');
                told.push(first ? findingOf(first) : [make('p', { textContent: 'The emulator finds nothing.' })]);
            } else {
                const { counter, per } = question.measure, counts = total(found[0]).total;
                values.push(per ? counts[counter] / counts[per] : counts[counter]);
                told.push([make('p', { textContent: countOf(question, values.at(-1), counts) })]);
            }
        }
        return { values, told };
    }

    const written = number => number.toLocaleString('en', { maximumFractionDigits: 2 });

    function countOf({ measure: { counter, per, unit } }, value, counts) {
        const whole = per && counts ? ` (${counter} ${written(counts[counter])}, ${per} ${written(counts[per])})` : ` (${counter})`;
        return `The emulator counts ${written(value)}${unit ? ` ${unit}` : ''}${whole}.`;
    }

    /** What came out when the site was built, in the form of measured(). */
    function known(question) {
        const values = question.measured;
        const told = values.map((value, i) => {
            if (question.form === 'finding') return [make('p', { textContent: value ? `The emulator finds: ${value}.` : 'The emulator finds nothing.' })];
            if (question.form === 'answers') return [make('p', { textContent: value ? 'The judge takes it.' : `The judge says: ${question.runs[i].said}` })];
            return [make('p', { textContent: countOf(question, value) })];
        });
        return { values, told };
    }

    /** Which choices are right by what was measured (common/cli/predictions.py). */
    function rightChoices(question, values) {
        const { form, choices } = question;
        if (form === 'number') {
            const most = choices.includes(values[0]) ? 0 : Math.abs(values[0]) * near;
            return choices.map(choice => Math.abs(choice - values[0]) <= most);
        }
        if (form === 'finding') return choices.map(choice => choice === values[0]);
        if (form === 'answers') return values;
        const best = Math[question.most ? 'max' : 'min'](...values);
        return values.map(value => value === best);
    }

    // ---- A question.

    const key = form => `predict:${chapter}:${form.dataset.prediction}`;

    class Question {
        constructor(form) {
            this.form = form;
            this.button = form.querySelector('.predict-bar button');
            this.outcome = form.querySelector('.predict-outcome');
            this.why = form.querySelector('.predict-why');
            this.choices = [...form.querySelectorAll('.predict-choice')];
            this.note = make('span', { className: 'predict-note' });
            this.button.after(this.note);
            form.onsubmit = event => {
                event.preventDefault();
                if (this.button.getAttribute('aria-disabled') !== 'true') this.done = this.answer();
            };
            form.onchange = () => this.forgetMarks();
            this.remember();
        }

        remember() {
            const before = store?.getItem(key(this.form));
            this.note.textContent = before ? `You have answered this, ${before === 'right' ? 'rightly' : 'wrongly at first'}.` : '';
        }

        forgetMarks() {
            for (const choice of this.choices) choice.classList.remove('right', 'wrong');
            this.form.querySelectorAll('.predict-mark').forEach(mark => mark.remove());
        }

        say(text) {
            this.outcome.replaceChildren(make('p', { textContent: text }));
        }

        async answer() {
            const chosen = Number(new FormData(this.form).get(`predict-${this.form.dataset.prediction}`));
            this.button.setAttribute('aria-disabled', 'true'); // Disabled, it would lose the focus.
            this.forgetMarks();
            try {
                const question = (await data()).questions[this.form.dataset.prediction];
                let result, instead = '';
                try {
                    result = await measured(question, text => this.say(text));
                } catch (error) {
                    result = known(question);
                    instead = `Nothing ran in this page (${error.message}). This came out when the site was built:`;
                }
                this.show(question, chosen, result, instead);
            } catch (error) {
                this.say(`Nothing can be run here: ${error.message}. In a clone of the repository, python3 docs/predictions.py ${chapter} says what comes out.`);
            } finally {
                this.button.removeAttribute('aria-disabled');
            }
        }

        show(question, chosen, { values, told }, instead) {
            const right = rightChoices(question, values), won = right[chosen];
            const verdict = make('p', { className: won ? 'right' : 'wrong', textContent: won ? 'As you said.' : 'It came out otherwise.' });
            const parts = instead ? [make('p', { textContent: instead }), verdict] : [verdict];
            if (question.runs.length === 1) parts.push(...told[0]);
            this.outcome.replaceChildren(...parts);
            this.choices.forEach((choice, i) => {
                const words = question.form === 'answers' ? ['passes', 'is refused'] : ['this', ''];
                choice.classList.add(right[i] ? 'right' : 'wrong');
                const mark = right[i] ? `✓ ${words[0]}` : words[1] && `✗ ${words[1]}`;
                if (mark) choice.querySelector('label').append(make('span', { className: 'predict-mark', textContent: mark }));
                if (question.runs.length > 1) choice.append(make('div', { className: 'predict-mark predict-told' }, ...told[i]));
            });
            this.why.open = true;
            if (!store?.getItem(key(this.form))) store?.setItem(key(this.form), won ? 'right' : 'wrong');
            this.remember();
            document.dispatchEvent(new CustomEvent('hopper-predicted'));
        }
    }

    globalThis.hopperQuestions = forms.map(form => new Question(form));
    document.addEventListener('hopper-forgotten', () => globalThis.hopperQuestions.forEach(question => question.remember()));
})();
