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

    // ---- where one is on the page ----
    const toc = by("toc");
    if (toc) {
        const button = toc.querySelector("button");
        const unfold = (wanted) => {
            toc.classList.toggle("open", wanted);
            button.setAttribute("aria-expanded", String(wanted));
        };
        button.addEventListener("click", () => unfold(!toc.classList.contains("open")));
        toc.addEventListener("click", (event) => { if (event.target.closest("a")) unfold(false); });
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
            const share = Number(store?.getItem(`read:${link.dataset.chapter}`) || 0);
            link.classList.toggle("read", share > 0);
            link.style.setProperty("--read", `${Math.round(share * 100)}%`);
            const said = link.querySelector(".progress");
            if (said) said.textContent = share > 0.97 ? "read" : share > 0 ? `${Math.round(share * 100)} % read` : "";
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
    if (here && store) {
        let waiting = 0;
        const note = () => {
            waiting = 0;
            const page = document.documentElement, share = Math.min(1, (page.scrollTop + page.clientHeight) / page.scrollHeight);
            if (page.scrollTop > 200 && share > Number(store.getItem(`read:${here}`) || 0)) store.setItem(`read:${here}`, share.toFixed(3));
            showRead();
        };
        document.addEventListener("scroll", () => { waiting = waiting || setTimeout(note, 300); }, { passive: true });
    }
    showRead();

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
