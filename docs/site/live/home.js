// The first page's demo: a listing that runs, with three lines to break that are marked before anything is loaded.
'use strict';

(() => {
    const told = document.getElementById('live-breaks'), listing = globalThis.hopperListings?.[0];
    if (!told || !listing) return;
    const { make } = hopperCapsules;
    const breaks = JSON.parse(told.textContent), names = breaks.map(each => each.name);
    const first = Number(/line (\d+)/.exec(document.querySelector('.origin').textContent)[1]);

    const all = listing.mutants.bind(listing);
    listing.mutants = async () => {
        const known = await all();
        return names.map(name => known.find(mutant => mutant.name === name)).filter(Boolean);
    };

    // The buttons are above the listing, and what comes of it is below: on a small screen it would not be seen.
    listing.reveal = () => {
        const behavior = matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth';
        if (listing.broken) listing.outcome.scrollIntoView({ block: 'nearest', behavior });
    };

    /** Breaks the line: the marks that stood here before give way to those of the listing itself. */
    async function apply(name, pressed) {
        listing.say('Loading the emulator, once…');
        listing.choices.hidden = true; // As showMutants() finds it where it has not been called.
        await listing.showMutants();
        listing.choices.hidden = false;
        const mutant = listing.offered?.find(each => each.name === name);
        if (!mutant) return; // What is missing has been said.
        for (const each of [...marks, ...items]) each.remove();
        mutant.buttons[pressed].focus({ preventScroll: true });
        await listing.choose(mutant, pressed ? mutant.buttons[pressed] : null);
    }

    const marks = breaks.map(({ name, line }) => {
        const mark = make('button', { type: 'button', className: 'live-mark', textContent: '✂', title: name, ariaLabel: `Break it: ${name}` });
        mark.onclick = () => apply(name, 1);
        listing.rows[line - first]?.classList.add('live-breakable');
        listing.rows[line - first]?.prepend(mark);
        return mark;
    });
    const items = breaks.map(({ name, why }) => {
        const button = make('button', { type: 'button', textContent: `✂ ${name}`, title: why });
        button.onclick = () => apply(name, 0);
        return make('li', {}, button);
    });
    listing.breakButton.remove();
    listing.choices.append(...items);
    listing.choices.hidden = false;
    // What can be done stands above the listing, so that it is seen first; what came of it stands below.
    const origin = document.querySelector('.origin');
    origin.before(make('div', { className: 'live live-first' }, listing.bar, listing.choices));
    listing.bar.append(make('span', { textContent: 'or break a line that is marked ✂:' }));
    globalThis.hopperDemo = { listing, breaks, apply };
})();
