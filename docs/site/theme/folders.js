// What Doxygen's lists do: folders of files and types open and close, inherited members appear, names in listings say what they are.
"use strict";

(function () {
    const rows = [...document.querySelectorAll("table.directory tr[id]")];
    const parent = (row) => row.id.replace(/\d+_$/, "");
    const button = (row) => row.querySelector("button[data-folder]");
    const opened = (row) => button(row)?.getAttribute("aria-expanded") === "true";
    const byId = new Map(rows.map((row) => [row.id, row]));

    /** A row shows if every folder around it is open. */
    function show() {
        for (const row of rows) {
            const around = byId.get(parent(row));
            row.style.display = !around || (around.style.display !== "none" && opened(around)) ? "" : "none";
        }
    }

    document.addEventListener("click", (event) => {
        const { folder, level } = event.target.dataset || {};
        if (folder) event.target.setAttribute("aria-expanded", String(event.target.getAttribute("aria-expanded") !== "true"));
        else if (level)
            for (const row of rows) button(row)?.setAttribute("aria-expanded", String(row.id.match(/\d+_/g).length < Number(level)));
        if (folder || level) show();
        const inherited = event.target.closest("[data-inherited]")?.dataset.inherited;
        if (inherited)
            for (const row of document.querySelectorAll(`tr.inherit.${CSS.escape(inherited)}`))
                row.style.display = row.style.display === "table-row" ? "none" : "table-row";
    });

    // The declaration of a name in a listing stands at the end of the page.
    document.addEventListener("pointerover", (event) => {
        const link = event.target.closest?.("a.code, a.codeRef");
        if (!link || link.title) return;
        const said = document.getElementById(`a${link.getAttribute("href").replace(/.*\//, "").replace(/\W/g, "_")}`);
        if (said) link.title = said.textContent.trim();
    });
})();
