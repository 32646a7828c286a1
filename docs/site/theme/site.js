// The frame's behaviour: menu on phones, light and dark, copy buttons. No request leaves the site.
"use strict";

(function () {
    const by = (id) => document.getElementById(id);

    // ---- menu ----
    const menu = by("menu"), side = by("side");
    const open = (wanted) => {
        side.classList.toggle("open", wanted);
        menu.setAttribute("aria-expanded", String(wanted));
    };
    menu.addEventListener("click", () => {
        open(!side.classList.contains("open"));
        if (side.classList.contains("open")) (side.querySelector("[aria-current]") || side.querySelector("a")).focus();
    });
    side.addEventListener("click", (event) => { if (event.target.closest("a")) open(false); });
    document.addEventListener("keydown", (event) => {
        if (event.key !== "Escape" || !side.classList.contains("open")) return;
        open(false);
        menu.focus();
    });
    side.addEventListener("focusout", (event) => { if (event.relatedTarget && !side.contains(event.relatedTarget) && event.relatedTarget !== menu) open(false); });
    by("main").addEventListener("click", () => open(false));
    const current = side.querySelector("[aria-current]");
    if (current && current.offsetTop > side.clientHeight - 80) side.scrollTop = current.offsetTop - 80;

    // ---- light and dark: the theme keeps the choice ----
    const dark = by("dark"), scheme = window.DoxygenAwesomeDarkModeToggle || DoxygenAwesomeDarkModeToggle;
    const show = () => {
        const on = document.documentElement.classList.contains("dark-mode");
        dark.textContent = on ? "Light" : "Dark";
        dark.setAttribute("aria-pressed", String(on));
    };
    dark.addEventListener("click", () => { scheme.userPreference = !scheme.darkModeEnabled; show(); });
    new MutationObserver(show).observe(document.documentElement, { attributeFilter: ["class"] });
    show();

    // The key that the search box names is one that a phone has not.
    if (matchMedia("(hover: none) and (pointer: coarse)").matches) by("query").placeholder = "Search";

    // ---- where one is on the page ----
    const toc = by("toc");
    if (toc) {
        const button = toc.querySelector("button");
        const unfold = (wanted) => {
            toc.classList.toggle("open", wanted);
            button.setAttribute("aria-expanded", String(wanted));
        };
        button.addEventListener("click", () => unfold(!toc.classList.contains("open")));
        toc.addEventListener("click", (event) => { if (event.target.closest("a")) fromBar(false); });

        // On a small screen the button is soon out of sight; then one in the bar opens the same list.
        const sections = document.createElement("button");
        Object.assign(sections, { id: "sections", type: "button", textContent: "Sections", hidden: true });
        sections.setAttribute("aria-controls", "toc-list");
        by("dark").before(sections);
        const fromBar = (wanted) => {
            toc.classList.toggle("from-bar", wanted);
            unfold(wanted);
            sections.setAttribute("aria-expanded", String(wanted));
            const list = by("toc-list"), here = list.querySelector("[aria-current]");
            if (wanted) list.scrollTop = here ? here.offsetTop - list.clientHeight / 2 : 0;
        };
        const asked = () => toc.classList.contains("from-bar") && toc.classList.contains("open");
        sections.addEventListener("click", () => fromBar(!asked()));
        document.addEventListener("click", (event) => { if (asked() && !event.target.closest("#toc-list, #sections")) fromBar(false); });
        document.addEventListener("keydown", (event) => {
            if (event.key !== "Escape" || !asked()) return;
            fromBar(false);
            sections.focus();
        });
        new IntersectionObserver(([entry]) => {
            sections.hidden = entry.isIntersecting || entry.boundingClientRect.top > 0;
            if (sections.hidden && asked()) fromBar(false);
        }, { rootMargin: "-52px 0px 0px 0px" }).observe(button);
        const links = [...toc.querySelectorAll("a")], headings = links.map((link) => by(decodeURIComponent(link.hash.slice(1))));
        let last = null;
        const spy = () => {
            const above = headings.findLastIndex((heading) => heading.getBoundingClientRect().top < 120);
            if (above === last) return;
            last = above;
            for (const node of toc.querySelectorAll(".here, [aria-current]")) {
                node.classList.remove("here");
                node.removeAttribute("aria-current");
            }
            if (above < 0) return;
            links[above].setAttribute("aria-current", "true");
            for (let item = links[above].closest("li"); item; item = item.parentElement.closest("#toc li")) item.classList.add("here");
            const at = links[above].offsetTop;
            if (at < toc.scrollTop || at > toc.scrollTop + toc.clientHeight - 60) toc.scrollTop = at - toc.clientHeight / 2;
        };
        document.addEventListener("scroll", spy, { passive: true });
        spy();
    }

    // ---- how far one has read: kept by this browser alone ----
    const store = (() => { try { return window.localStorage; } catch { return null; } })();
    const chapters = [...document.querySelectorAll("a[data-chapter]")];
    const showRead = () => {
        for (const link of chapters) {
            const share = parseFloat(store?.getItem(`read:${link.dataset.chapter}`)) || 0; // Marks may follow the number.
            link.classList.toggle("read", share > 0);
            link.style.setProperty("--read", `${Math.round(share * 100)}%`);
            const said = link.querySelector(".progress");
            if (said) said.textContent = share >= 0.95 ? "read" : share > 0 ? `${Math.round(share * 100)} % read` : "";
            showAnswered(link, said);
        }
        if (forget) forget.hidden = !kept().length;
    };

    // ---- and which predictions were answered ----
    const kept = () => Object.keys(store || {}).filter((key) => /^(read|predict):/.test(key));
    const questions = new Map(chapters.filter((link) => link.dataset.questions).map((link) => [link.dataset.chapter, Number(link.dataset.questions)]));
    const showAnswered = (link, said) => {
        const name = link.dataset.chapter, all = questions.get(name);
        const count = kept().filter((key) => key.startsWith(`predict:${name}:`)).length;
        const text = count ? `${Math.min(count, all)} of ${all} predicted` : "";
        if (said) said.textContent = [said.textContent, text].filter(Boolean).join(", ");
        else {
            link.querySelector(".answered")?.remove();
            if (text) link.insertAdjacentHTML("beforeend", `<small class="answered">${text}</small>`);
        }
    };
    const forget = document.querySelector("button.forget");
    forget?.addEventListener("click", () => {
        for (const key of kept()) store.removeItem(key);
        showRead();
        document.dispatchEvent(new CustomEvent("hopper-forgotten"));
    });
    document.addEventListener("hopper-predicted", () => showRead());
    const here = side.querySelector("[aria-current][data-chapter]")?.dataset.chapter;
    if (here && store) window.addEventListener("load", () => noteReading(here)); // All parts of the page are there by then.
    showRead();

    // A paragraph, list, table or listing is read when it was on the screen from its beginning to its end, for as long as who
    // skims it needs. What was jumped over never was, and what is folded is extra. The store keeps the share and a mark for each.
    function noteReading(name) {
        const TICK = 250, SKIMMED = 75, SHORTEST = 0.5, LONGEST = 3; // milliseconds; characters a second; seconds
        const nodes = document.querySelectorAll("#main .textblock > :is(p, ul, ol, blockquote, form, .listing, .table-box, .interactive, .exercise)");
        const marks = (store.getItem(`read:${name}`) || "").split(" ")[1] || "", known = marks.length === nodes.length;
        const blocks = new Map([...nodes].map((node, at) => {
            const folded = [...node.querySelectorAll("details")].filter((each) => !each.parentElement.closest("details"));
            const length = node.textContent.length - folded.reduce((sum, each) => sum + each.textContent.length, 0);
            const weight = Math.min(Math.max(length, 40), 1500), seconds = Math.min(Math.max(weight / SKIMMED, SHORTEST), LONGEST);
            return [node, { weight, left: seconds * 1000, begun: false, ended: false, read: known && marks[at] === "1" }];
        }));
        const all = [...blocks.values()], whole = all.reduce((sum, block) => sum + block.weight, 0);
        const seen = new Set(), top = by("bar").offsetHeight - 4;
        const tick = () => {
            if (document.hidden) return;
            let news = false;
            for (const node of seen) {
                const block = blocks.get(node), box = node.getBoundingClientRect();
                block.begun ||= box.top >= top;
                block.ended ||= box.bottom <= innerHeight + 4;
                block.left -= TICK;
                if (block.left > 0 || !block.begun || !block.ended) continue;
                block.read = news = true;
                seen.delete(node);
                watching.unobserve(node);
            }
            if (news) {
                const share = all.reduce((sum, block) => sum + (block.read ? block.weight : 0), 0) / whole;
                store.setItem(`read:${name}`, `${share.toFixed(3)} ${all.map((block) => Number(block.read)).join("")}`);
                showRead();
            }
        };
        let timer = 0;
        const watching = new IntersectionObserver((entries) => {
            for (const { target, isIntersecting } of entries) seen[isIntersecting ? "add" : "delete"](target);
            if (seen.size) timer ||= setInterval(tick, TICK);
            else timer = clearInterval(timer);
        }, { rootMargin: `-${top}px 0px 0px 0px` });
        for (const [node, block] of blocks) if (!block.read) watching.observe(node);
    }

    // ---- who comes to a part of an appendix wants to read it ----
    const unfoldPart = () => {
        const heading = location.hash && by(decodeURIComponent(location.hash.slice(1)));
        const part = heading && heading.nextElementSibling;
        if (part && part.matches("details.part")) part.open = true;
    };
    window.addEventListener("hashchange", unfoldPart);
    unfoldPart();

    // ---- print: light, and nothing folded ----
    const folds = () => document.querySelectorAll("details.fold:not([open])");
    let before = null;
    window.addEventListener("beforeprint", () => {
        before = { dark: document.documentElement.classList.contains("dark-mode"), closed: [...folds()] };
        for (const fold of before.closed) fold.open = true;
        document.documentElement.classList.remove("dark-mode");
        document.documentElement.classList.add("light-mode");
    });
    window.addEventListener("afterprint", () => {
        if (!before) return;
        for (const fold of before.closed) fold.open = false;
        document.documentElement.classList.toggle("dark-mode", before.dark);
        document.documentElement.classList.toggle("light-mode", !before.dark);
        before = null;
    });

    // ---- copy buttons ----
    for (const fragment of [...document.querySelectorAll("#main div.fragment")]) {
        const box = document.createElement("div"), button = document.createElement("button");
        box.className = "listing";
        fragment.replaceWith(box);
        button.type = "button";
        button.className = "copy";
        const lines = () => {
            const copy = fragment.cloneNode(true);
            for (const node of copy.querySelectorAll(".lineno, .ttc")) node.remove();
            return [...copy.querySelectorAll(".line")].map((line) => line.textContent.replace(/\u00a0$/, ""));
        };
        // Of a command and what it prints, the command is what somebody wants to have.
        const output = fragment.textContent.trimStart().startsWith("$ "), label = output ? "Copy command" : "Copy";
        button.textContent = label;
        box.append(fragment, button);
        button.addEventListener("click", async () => {
            const text = output ? lines()[0].slice(2) : lines().join("\n");
            button.textContent = (await toClipboard(text)) ? "Copied" : "Select and copy";
            setTimeout(() => { button.textContent = label; }, 1200);
        });
    }

    // Pages opened from the disk may have no clipboard of their own; the old command still works there.
    async function toClipboard(text) {
        try {
            await navigator.clipboard.writeText(text);
            return true;
        } catch {
            const area = document.createElement("textarea");
            area.value = text;
            document.body.append(area);
            area.select();
            const done = document.execCommand("copy");
            area.remove();
            return done;
        }
    }

    // ---- wide things: tables are set closer where they would not fit; what still goes on out of sight fades ----
    for (const code of document.querySelectorAll("#main code")) code.classList.toggle("whole", code.textContent.length <= 28);
    for (const cell of document.querySelectorAll("#main .table-box td")) {
        const length = cell.textContent.length;
        const most = cell.parentElement.cells.length > 2 ? "longer" : "long"; // Two columns should fit a phone.
        cell.classList.add(length > 60 ? most : length > 26 ? "long" : length > 18 ? "middling" : "short");
    }
    const overflows = (node) => node.scrollWidth - node.clientWidth > 2;
    const edges = (node) => {
        // What scrolls can be reached by keyboard; what does not is no stop on the way.
        if (!node.matches(".drawing")) node.toggleAttribute("tabindex", overflows(node));
        if (node.hasAttribute("tabindex")) node.tabIndex = 0;
        node.classList.toggle("more-left", node.scrollLeft > 10);
        node.classList.toggle("more-right", node.scrollWidth - node.clientWidth - node.scrollLeft > 10);
    };
    const fit = (node) => {
        if (node.matches(".table-box")) {
            node.classList.remove("tight");
            const squeezed = [...node.querySelectorAll(".long, .longer")].some((cell) => cell.clientWidth < 140);
            node.classList.toggle("tight", squeezed || overflows(node));
        }
        edges(node);
    };
    window.addEventListener("load", () => { // The interactive pictures are drawn by then.
        const resized = new ResizeObserver((entries) => { for (const { target } of entries) fit(target); });
        for (const node of document.querySelectorAll("#main div.fragment, #main .table-box, #main .figure, #main .drawing")) {
            resized.observe(node);
            node.addEventListener("scroll", () => edges(node), { passive: true });
        }
    });
})();
