// Keys: right, down, space, Page Down, Enter: next; left, up, backspace, Page Up: back; Home, End; digits and Enter: slide
// number; T: the clock of this slide; F: the whole screen; ?: these keys. A click or a tap goes on, in the left quarter back;
// so do the wheel, a swipe and the buttons. Without JavaScript the slides stand below each other.
"use strict";
(() => {
  const slides = [...document.querySelectorAll("section")];
  const width = 1280, height = 720, smallest = 0.55, largest = 0.75;
  const readable = 0.6; // A slide that would be smaller than this is set as a page of its own: its text keeps the reader's size.
  let current = 0, typed = "";
  // The window as it is laid out: a phone's innerWidth grows with what is wider than its screen.
  const room = document.documentElement;
  const scaled = () => Math.min(room.clientWidth / width, room.clientHeight / height);
  const asPage = () => scaled() < readable;

  // What is too large for its slide is made smaller: listings and tables first, then all of it.
  function fit(slide) {
    const body = slide.querySelector(".body");
    if (slide.dataset.fitted || !body) return;
    slide.dataset.fitted = "1";
    const fits = () => body.scrollHeight <= body.clientHeight + 1 && [...body.querySelectorAll(".listing, table")].every(
      (part) => part.getBoundingClientRect().right <= body.getBoundingClientRect().right + 1 && part.scrollWidth <= part.clientWidth + 1);
    for (let scale = 1; scale > smallest && !fits(); scale -= 0.03) {
      for (const part of body.children) {
        const large = part.matches(".listing, .table");
        if (!part.matches(".picture") && (large || scale < largest)) part.style.zoom = large ? scale : scale + 1 - largest;
      }
    }
    if (!fits()) slide.dataset.full = "1";
  }

  function place() {
    const slide = slides[current], scale = scaled();
    document.body.classList.toggle("page", asPage());
    if (asPage()) {
      slide.style.transform = slide.style.left = slide.style.top = "";
      return;
    }
    slide.style.transform = "none";
    fit(slide);
    slide.style.transform = `scale(${scale})`;
    slide.style.left = `${(room.clientWidth - width * scale) / 2}px`;
    slide.style.top = `${(room.clientHeight - height * scale) / 2}px`;
  }

  function show(number) {
    slides[current].classList.remove("current");
    current = Math.max(0, Math.min(slides.length - 1, number || 0));
    slides[current].classList.add("current");
    place();
    scrollTo(0, 0);
    tell();
    history.replaceState(null, "", `#${current + 1}`);
  }

  function toggle(clock) {
    if (clock.timer) {
      clearInterval(clock.timer);
      clock.timer = 0;
      return;
    }
    clock.left ??= 60 * clock.dataset.minutes;
    let before = Date.now();
    clock.timer = setInterval(() => {
      const now = Date.now();
      clock.left -= (now - before) / 1000;
      before = now;
      const seconds = Math.max(0, Math.ceil(clock.left));
      clock.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
      clock.classList.toggle("over", clock.left <= 0);
    }, 250);
  }

  // ---- the bar: where one is, and how to go on ----
  const bar = document.querySelector(".bar"), back = bar.querySelector(".back"), next = bar.querySelector(".next");
  const said = bar.querySelector(".at"), help = bar.querySelector(".help"), hint = document.getElementById("hint");

  // The slides of the plan; behind them is what it had no time for.
  const behind = slides.findIndex((slide) => slide.classList.contains("more"));
  const planned = behind < 0 ? slides.length : behind;

  const placeOf = (at) => at < planned ? `${at + 1} / ${planned}` : `more: ${at + 1 - planned} / ${slides.length - planned}`;

  function tell() {
    said.textContent = placeOf(current);
    back.disabled = current === 0;
    next.disabled = current === slides.length - 1;
    document.body.classList.toggle("first", current === 0);
    if (current > 0) hinted(false);
  }

  function hinted(wanted) {
    hint.hidden = !wanted;
    help.setAttribute("aria-expanded", String(wanted));
  }

  // On a projector the bar is in nobody's way: it comes with the pointer, and goes when that rests.
  let resting = 0;
  function wake() {
    document.body.classList.add("awake");
    clearTimeout(resting);
    resting = setTimeout(() => document.body.classList.remove("awake"), 2500);
  }

  const keys = {
    ArrowRight: 1, ArrowDown: 1, " ": 1, PageDown: 1, Enter: 1, ArrowLeft: -1, ArrowUp: -1, Backspace: -1, PageUp: -1,
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const clock = slides[current].querySelector(".clock"), pressing = event.target.closest?.(".bar");
    if (pressing && (event.key === " " || event.key === "Enter") && !typed) return; // It presses the button that has the focus.
    if (event.key >= "0" && event.key <= "9") typed += event.key;
    else if (event.key === "Enter" && typed) show(Number(typed) - 1);
    else if (event.key in keys) show(current + keys[event.key]);
    else if (event.key === "Home") show(0);
    else if (event.key === "End") show(slides.length - 1);
    else if (event.key.toLowerCase() === "t" && clock) toggle(clock);
    else if (event.key === "?") hinted(hint.hidden);
    else if (event.key === "Escape" && !hint.hidden) hinted(false);
    else if (event.key.toLowerCase() === "f") document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen();
    else return;
    if (!(event.key >= "0" && event.key <= "9")) typed = "";
    event.preventDefault();
  });
  addEventListener("click", (event) => {
    const clock = event.target.closest(".clock");
    if (clock) {
      toggle(clock);
      clock.blur();
      return;
    }
    if (event.target.closest(".back")) show(current - 1);
    else if (event.target.closest(".next")) show(current + 1);
    else if (event.target.closest(".help")) hinted(hint.hidden);
    // Who marks words to copy them does not want to go on, and neither does who scrolls a listing.
    else if (!event.target.closest("a, button, .bar, .hint") && getSelection().isCollapsed && event.detail < 2) {
      show(current + (event.clientX < room.clientWidth / 4 ? -1 : 1));
    }
  });
  addEventListener("pointermove", wake);
  addEventListener("pointerdown", wake);

  // A turn of the wheel is many events: one slide for all that follow each other at once. A page scrolls.
  let turned = -Infinity;
  addEventListener("wheel", (event) => {
    if (asPage() || event.ctrlKey) return;
    if (event.timeStamp - turned > 250 && event.deltaY) show(current + Math.sign(event.deltaY));
    turned = event.timeStamp;
  }, { passive: true });

  let touch = null;
  const scrolls = (node) => node && node !== document.body && (node.scrollWidth > node.clientWidth + 2 && getComputedStyle(node).overflowX === "auto" || scrolls(node.parentElement));
  addEventListener("touchstart", (event) => {
    const [first] = event.touches;
    touch = event.touches.length > 1 || visualViewport.scale > 1.05 || scrolls(event.target) ? null : { x: first.clientX, y: first.clientY };
  }, { passive: true });
  addEventListener("touchend", (event) => {
    if (!touch) return;
    const [last] = event.changedTouches, x = last.clientX - touch.x, y = last.clientY - touch.y;
    touch = null;
    if (Math.abs(x) > 50 && Math.abs(x) > 2 * Math.abs(y)) show(current - Math.sign(x));
  }, { passive: true });
  addEventListener("resize", place);
  addEventListener("hashchange", () => show(Number(location.hash.slice(1)) - 1));
  addEventListener("beforeprint", () => {
    document.body.classList.remove("live", "page");
    slides.forEach(fit);
    document.body.classList.add("live");
    document.body.classList.toggle("page", asPage());
  });

  slides.forEach((slide, at) => { slide.querySelector(".number").textContent = placeOf(at); });
  document.body.classList.add("live");
  bar.hidden = false;
  show(Number(location.hash.slice(1) || 1) - 1);
  hinted(current === 0);
})();
