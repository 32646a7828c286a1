// What the canvases of the viewer share: sharp pixels, the colours of the page, patterns.
'use strict';

(() => {
    const viewer = globalThis.hopperViewer ??= {};
    const patterns = new Map(); // A pattern serves every canvas.

    /** A pen for an empty canvas of that size. */
    viewer.pen = (canvas, width, height) => {
        const ratio = globalThis.devicePixelRatio || 1;
        const pixels = [Math.round(width * ratio), Math.round(height * ratio)];
        if (canvas.width !== pixels[0] || canvas.height !== pixels[1]) {
            [canvas.width, canvas.height] = pixels;
            canvas.style.width = `${width}px`;
            canvas.style.height = `${height}px`;
        }
        const pen = canvas.getContext('2d');
        pen.setTransform(ratio, 0, 0, ratio, 0, 0);
        pen.clearRect(0, 0, width, height);
        return pen;
    };

    /** The page's colours by their names in viewer.css. */
    viewer.colours = element => {
        const style = getComputedStyle(element), known = new Map();
        return name => known.get(name) ?? known.set(name, style.getPropertyValue(name).trim()).get(name);
    };

    /** 6 pixels with a pattern in a colour, over and over. */
    function patternOf(pen, pattern, colour) {
        const key = `${pattern} ${colour}`;
        if (patterns.has(key)) return patterns.get(key);
        const canvas = document.createElement('canvas');
        canvas.width = canvas.height = 6;
        const tile = canvas.getContext('2d');
        tile.strokeStyle = tile.fillStyle = colour;
        if (pattern === 'dots') tile.fillRect(2, 2, 2, 2);
        else for (const at of [-6, 0, 6]) {
            tile.beginPath();
            tile.moveTo(at - 1, 7);
            tile.lineTo(at + 7, -1);
            tile.stroke();
        }
        return patterns.set(key, pen.createPattern(canvas, 'repeat')).get(key);
    }

    /** A rectangle in a colour, with a pattern on it ('', 'slant' or 'dots'). */
    viewer.fill = (pen, x, y, width, height, colour, pattern, stripe) => {
        pen.fillStyle = colour;
        pen.fillRect(x, y, width, height);
        if (!pattern || width < 3) return;
        pen.fillStyle = patternOf(pen, pattern, stripe);
        pen.fillRect(x, y, width, height);
    };

    /** As much of a text as fits into a width. */
    viewer.cut = (pen, text, width) => {
        if (pen.measureText(text).width <= width) return text;
        let fits = 0, tooMuch = text.length;
        while (tooMuch - fits > 1) {
            const middle = (fits + tooMuch) >> 1;
            if (pen.measureText(`${text.slice(0, middle)}…`).width <= width) fits = middle;
            else tooMuch = middle;
        }
        return fits > 0 ? `${text.slice(0, fits)}…` : '';
    };
})();
