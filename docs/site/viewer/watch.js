// 'Watch' beside Run below a listing: runs once more, recorded moment by moment, and opens the viewer below what came of it. The
// viewer is loaded when it is first wanted. A link to a moment runs the same again: kernel, order, size, seed and mutant are in it.
'use strict';

(() => {
    const listings = globalThis.hopperListings;
    if (!listings) return;
    const here = new URL('.', document.currentScript?.src ?? document.baseURI).href;
    const MOST_EVENTS = 200_000; // A page shows that many without a wait.
    const SCRIPTS = ['drawing', 'recording', 'words', 'state', 'lanes', 'shared', 'viewer'];
    let loading = null;

    function load() {
        if (!loading) document.head.append(Object.assign(document.createElement('link'), { rel: 'stylesheet', href: `${here}viewer.css` }));
        return loading ??= SCRIPTS.reduce((before, name) => before.then(() => new Promise((resolve, reject) => {
            const fail = () => {
                loading = null;
                reject(new Error(`${here}${name}.js could not be loaded`));
            };
            document.head.append(Object.assign(document.createElement('script'), { src: `${here}${name}.js`, onload: resolve, onerror: fail }));
        })), Promise.resolve());
    }

    /** What a listing ran last, as a link has it. */
    const nameOf = (listing, { order, size, seed }) =>
        [listings.indexOf(listing), size === Number(listing.size.options[0].value) ? order : `${order}.${size}`, seed, encodeURIComponent(listing.broken?.name ?? '')].join(':');

    async function watch(listing, where = null) {
        const { ran, place } = listing;
        listing.watchButton.disabled = true;
        try {
            await load();
            const { momentsText } = await ran.again({ record: MOST_EVENTS });
            if (!momentsText) throw new Error('This emulator records no moments: build the site anew.');
            if (listing.ran !== ran) return null; // It ran again meanwhile.
            const link = (cluster, event) => `#watch=${nameOf(listing, ran)}:${cluster}.${event}`;
            const recording = JSON.parse(momentsText);
            recording.kernel = recording.kernel.replace(/\(anonymous namespace\)::|\bcopy\d+_::/g, ''); // Mutants of a chapter are compiled together.
            // What stands above it already needs not to be said again; a mistake's listing has no number that a link could name.
            const view = hopperViewer.open(place, recording, { told: true, ...(listings.includes(listing) ? { link } : { link: null }) });
            if (where) view?.follow(where);
            listing.view = view;
            return view;
        } catch (error) {
            place.replaceChildren(Object.assign(document.createElement('p'), { textContent: error.message, className: 'wrong' }));
            return null;
        } finally {
            listing.watchButton.disabled = false;
        }
    }

    /** Puts the button into a listing's bar; it is there while the listing has a run to show. */
    function offer(listing) {
        const button = Object.assign(document.createElement('button'), { type: 'button', className: 'live-watch', textContent: 'Watch' });
        button.title = 'Show this run event by event';
        button.hidden = true;
        listing.watchButton = button;
        listing.place = document.createElement('div');
        listing.bar.append(button);
        listing.outcome.after(listing.place);
        button.onclick = async () => (await watch(listing))?.element.scrollIntoView({ block: 'start' });
        listing.bar.parentElement.addEventListener('hopper-ran', () => {
            button.hidden = !listing.ran;
            listing.place.replaceChildren();
        });
    }
    listings.forEach(offer);

    /** Runs what a link names, and goes to its moment. */
    async function follow() {
        const found = /^#watch=(\d+):((?:late|early|random)(?:\.\d+)?):(\d+):([^:]*):(\d+\.\d+)$/.exec(location.hash);
        const listing = found && listings[Number(found[1])];
        if (!listing) return;
        const [, , how, seed, mutant, where] = found, [order, size] = how.split('.');
        const same = listing.view && listing.ran && nameOf(listing, listing.ran) === [found[1], how, seed, mutant].join(':');
        if (same && listing.view.element.isConnected) {
            listing.view.follow(where);
            return;
        }
        listing.order.value = order;
        listing.size.value = size ?? listing.size.options[0].value;
        if (!listing.size.value) return; // This page has no such size.
        listing.seed = Number(seed);
        await listing.showMutants();
        const broken = (await listing.mutants()).find(each => each.name === decodeURIComponent(mutant));
        await (broken ? listing.choose(broken) : listing.run());
        if (listing.ran) (await watch(listing, where))?.element.scrollIntoView({ block: 'center' });
    }
    globalThis.hopperWatch = { watch, follow, offer };
    addEventListener('hashchange', follow);
    follow();
})();
