// The search: an index of words that is loaded at the first focus, and a list of hits below the box. Words are taken apart as
// docs/site/generator/search.py takes them apart. No request leaves the site.
"use strict";

window.SITE_TEXTS = {};

const Search = (function () {
    let index = null; // What search_index.js said, unpacked.

    // ---- words ----
    function stem(word) {
        if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
        if (word.endsWith("ies")) word = word.slice(0, -3) + "y";
        else if (word.endsWith("sses")) word = word.slice(0, -2);
        else if (word.endsWith("s") && !/(ss|us|is)$/.test(word)) word = word.slice(0, -1);
        if (word.endsWith("ied")) return word.slice(0, -3) + "y";
        for (const ending of ["ing", "ed"]) {
            if (!word.endsWith(ending) || word.endsWith("eed")) continue;
            const rest = word.slice(0, -ending.length);
            if (rest.length > 2 && /[aeiouy]/.test(rest))
                return /([bdgmnprt])\1$/.test(rest) ? rest.slice(0, -1) : rest.replace(/e$/, "");
        }
        return word.length > 4 && word.endsWith("e") ? word.slice(0, -1) : word;
    }

    const WORD = /[A-Za-z0-9_]+(?:(?:\.|::)[A-Za-z0-9_]+)*/g;

    /** A word of the text and what it is compared as: itself first, then the parts of a name. */
    function forms(word) {
        const whole = word.toLowerCase().replaceAll("::", "."), found = [stem(whole)];
        for (const part of whole.split(".")) {
            if (part !== whole) found.push(stem(part));
            if (part.replace(/^_+|_+$/g, "").includes("_")) found.push(...part.split("_").filter(Boolean).map(stem));
        }
        return [...new Set(found)];
    }

    /** How many letters must be changed, added, left out or exchanged with their neighbour; `most + 1` if more than `most`. */
    function distance(a, b, most) {
        if (Math.abs(a.length - b.length) > most) return most + 1;
        let older = [], old = Array.from({ length: b.length + 1 }, (_, j) => j);
        for (let i = 1; i <= a.length; ++i) {
            const now = [i];
            let least = i;
            for (let j = 1; j <= b.length; ++j) {
                const same = a[i - 1] === b[j - 1] ? 0 : 1;
                now[j] = Math.min(old[j] + 1, now[j - 1] + 1, old[j - 1] + same);
                if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) now[j] = Math.min(now[j], older[j - 2] + 1);
                least = Math.min(least, now[j]);
            }
            if (least > most) return most + 1;
            older = old;
            old = now;
        }
        return old[b.length];
    }

    // ---- the index ----
    function unpack(data) {
        const postings = data.postings.split(" ");
        const terms = new Map(data.terms.split(" ").map((term, number) => [term, { packed: postings[number], list: null }]));
        const names = data.names.flatMap(([file, list]) => Array.from({ length: list.length / 3 }, (_, n) => {
            const [kind, name, anchor] = list.slice(3 * n, 3 * n + 3), full = name.toLowerCase();
            return { kind, name, address: anchor ? `${file}#${anchor}` : file, full, last: full.split("::").pop() };
        }));
        return { ...data, terms, names, stop: new Set(data.stop.split(" ")) };
    }

    /** [section, weight] of a term. */
    function list(term) {
        const entry = index.terms.get(term);
        if (!entry) return [];
        if (!entry.list) {
            let at = -1;
            entry.list = [...entry.packed.matchAll(/([a-z]*)([A-Z])/g)].map(([, gap, weight]) => {
                at += 1 + [...gap].reduce((sum, digit) => sum * 26 + digit.charCodeAt(0) - 97, 0);
                return [at, weight.charCodeAt(0) - 64];
            });
        }
        return entry.list;
    }

    /** Terms of the index that a word of the query may mean, each with how well it fits. */
    function meant(word) {
        const [whole, ...parts] = forms(word), found = new Map();
        const add = (term, fit) => { if (index.terms.has(term)) found.set(term, Math.max(fit, found.get(term) || 0)); };
        add(whole, 1);
        for (const other of index.same[whole] || []) add(other, 0.7);
        for (const term of index.terms.keys())
            if (whole.length > 2 && term.length > whole.length && term.startsWith(whole)) add(term, parts.length ? 0.9 : 0.6 * whole.length / term.length + 0.1);
        for (const part of parts) add(part, 0.25);
        if (![...found.values()].some((fit) => fit > 0.25) && whole.length > 3) {
            const most = whole.length > 7 ? 2 : 1;
            for (const term of index.terms.keys()) {
                const apart = distance(whole, term, most);
                if (apart <= most) add(term, 0.75 - 0.2 * apart);
            }
        }
        return found;
    }

    const ownWords = (text) => (text.match(WORD) || []).map((word) => stem(word.toLowerCase()));

    function sections(groups, query) {
        const scores = new Map(), wanted = ownWords(query).join(" ");
        groups.forEach((group) => {
            const best = new Map(), rarity = (found) => Math.log(1 + index.sections.length / found);
            // A word and its longer forms are one word: it is as rare as all of them together.
            const together = new Set([...group].flatMap(([term, fit]) => (fit > 0.25 ? list(term).map(([section]) => section) : [])));
            for (const [term, fit] of group) {
                const entries = list(term), rare = rarity(fit > 0.25 ? together.size : entries.length);
                for (const [section, weight] of entries) best.set(section, Math.max(best.get(section) || 0, fit * rare * weight));
            }
            for (const [section, score] of best) {
                const now = scores.get(section) || { score: 0, words: 0 };
                scores.set(section, { score: now.score + score, words: now.words + 1 });
            }
        });
        return [...scores].map(([number, { score, words }]) => {
            const [page, title, label] = index.sections[number], [name, called] = index.pages[page];
            const same = ownWords(title || called.replace(/^\d+ · /, "")).join(" ") === wanted ? 1.25 : 1;
            return {
                title: title || called, place: called, name, part: number - index.sections.findIndex(([other]) => other === page),
                address: label ? `${name}.html#${name}-${label}` : `${name}.html`, score: same * score * (words / groups.length) ** 2,
            };
        });
    }

    /** Names of the API. One that is asked for by a name of code comes before all prose that mentions it. */
    function names(query) {
        const text = query.toLowerCase().trim().replace(/\(\)$/, ""), coded = /[_:]/.test(text);
        if (text.length < 3 || /\s/.test(text)) return [];
        return index.names.flatMap(({ kind, name, address, full, last }) => {
            const part = /variable|enumvalue|typedef/.test(kind) ? 0.5 : 1, known = full === text || last === text;
            const fit = part * (known ? (coded ? 400 : 14) : last.startsWith(text) ? (coded ? 60 : 6) : full.includes(text) ? (coded ? 40 : 4) : 0);
            return fit ? [{ title: name, place: kind, address, score: fit - name.length / 100 }] : [];
        });
    }

    /** The hits, the best first, and the terms that they have. */
    function find(query) {
        const said = query.match(WORD) || [], telling = said.filter((word) => !index.stop.has(word.toLowerCase()));
        const groups = (telling.length ? telling : said).map(meant);
        const hits = [...sections(groups, query), ...names(query)].sort((a, b) => b.score - a.score);
        const seen = new Map();
        const few = hits.filter((hit) => { // Of one page no more than five, so that others are seen too.
            const count = seen.get(hit.name) || 0;
            seen.set(hit.name, count + 1);
            return !hit.name || count < 5;
        });
        return { hits: few.slice(0, 24), terms: new Set(groups.flatMap((group) => [...group.keys()])) };
    }

    // ---- loading: as scripts, because a page opened from the disk may load nothing else ----
    const loading = new Map();
    function load(file) {
        if (!loading.has(file)) loading.set(file, new Promise((done, failed) => {
            const script = document.createElement("script");
            script.src = file;
            script.onload = done;
            script.onerror = () => { loading.delete(file); failed(new Error(file)); };
            document.head.append(script);
        }));
        return loading.get(file);
    }

    async function ready() {
        await load("search_index.js");
        index = index || unpack(window.SITE_INDEX);
    }

    return { ready, find, load, forms, stem, WORD };
})();

(function () {
    const query = document.getElementById("query"), hits = document.getElementById("hits"), said = document.getElementById("found");
    let chosen = -1, asked = 0;

    /** The text with the words that were found in <mark>. */
    function marked(text, terms) {
        const parts = [];
        let at = 0;
        for (const match of text.matchAll(Search.WORD)) {
            if (!Search.forms(match[0]).some((form) => terms.has(form))) continue;
            const mark = document.createElement("mark");
            mark.textContent = match[0];
            parts.push(text.slice(at, match.index), mark);
            at = match.index + match[0].length;
        }
        return [...parts, text.slice(at)];
    }

    /** The part of a text that has most of the words. */
    function excerpt(text, terms) {
        const places = [...text.matchAll(Search.WORD)].filter((match) => Search.forms(match[0]).some((form) => terms.has(form))).map((m) => m.index);
        const WIDTH = 150;
        let best = 0, most = 0;
        places.forEach((place, n) => {
            const count = places.slice(n).filter((other) => other < place + WIDTH - 40).length;
            if (count > most) [best, most] = [place, count];
        });
        const from = best > 40 ? text.indexOf(" ", best - 40) + 1 : 0, to = text.indexOf(" ", from + WIDTH);
        return (from ? "… " : "") + (to < 0 ? text.slice(from) : `${text.slice(from, to)} …`);
    }

    function option(hit, number, terms) {
        const link = document.createElement("a"), name = document.createElement("b"), small = document.createElement("small");
        link.href = hit.address;
        link.id = `hit-${number}`;
        link.tabIndex = -1;
        link.setAttribute("role", "option");
        link.setAttribute("aria-selected", "false");
        name.append(...marked(hit.title, terms));
        small.textContent = hit.place;
        link.append(name, small);
        return link;
    }

    async function addExcerpt(link, hit, terms) {
        await Search.load(`search/${hit.name}.js`);
        const text = window.SITE_TEXTS[hit.name][hit.part];
        const words = document.createElement("span");
        words.append(...marked(excerpt(text, terms), terms));
        if (text) link.append(words);
    }

    function shown(open) {
        hits.hidden = !open;
        query.setAttribute("aria-expanded", String(open));
        if (!open) query.removeAttribute("aria-activedescendant");
    }

    async function list() {
        const now = ++asked, text = query.value.trim();
        if (!text) {
            said.textContent = "";
            shown(false);
            return;
        }
        await Search.ready().catch(() => { said.textContent = "The search index could not be loaded."; });
        if (now !== asked || !window.SITE_INDEX) return;
        const { hits: found, terms } = Search.find(text);
        chosen = -1;
        query.removeAttribute("aria-activedescendant");
        const links = found.map((hit, number) => option(hit, number, terms));
        hits.replaceChildren(...links);
        said.textContent = found.length ? `${found.length} found` : "Nothing found.";
        said.classList.toggle("seen", !found.length);
        shown(found.length > 0);
        await Promise.all(found.map((hit, number) => hit.name && addExcerpt(links[number], hit, terms)));
    }

    function move(step) {
        const links = [...hits.children];
        if (!links.length) return;
        shown(true);
        chosen = (chosen + step + links.length + (chosen < 0 && step < 0 ? 1 : 0)) % links.length;
        links.forEach((link, number) => link.setAttribute("aria-selected", String(number === chosen)));
        query.setAttribute("aria-activedescendant", links[chosen].id);
        links[chosen].scrollIntoView({ block: "nearest" });
    }

    query.addEventListener("input", list);
    query.addEventListener("focus", () => { Search.ready().catch(() => {}); list(); });
    query.addEventListener("keydown", (event) => {
        if (event.key === "ArrowDown" || event.key === "ArrowUp") {
            event.preventDefault();
            move(event.key === "ArrowDown" ? 1 : -1);
        } else if (event.key === "Enter" && !hits.hidden) hits.children[Math.max(0, chosen)].click();
        else if (event.key === "Escape" || event.key === "Tab") shown(false);
    });
    document.addEventListener("click", (event) => { if (!document.getElementById("find").contains(event.target)) shown(false); });
    document.addEventListener("keydown", (event) => {
        if (event.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) {
            event.preventDefault();
            query.focus();
        }
    });
    hits.addEventListener("click", () => shown(false));
})();
