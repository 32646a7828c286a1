// Keys: right, down, space, Page Down, Enter: next; left, up, backspace, Page Up: back; Home, End; digits and Enter: slide
// number; T: the clock of this slide; F: the whole screen. Without JavaScript the slides stand below each other.
"use strict";
(() => {
  const slides = [...document.querySelectorAll("section")];
  const width = 1280, height = 720, smallest = 0.55, largest = 0.75;
  let current = 0, typed = "";

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
        if (part.tagName !== "IMG" && (large || scale < largest)) part.style.zoom = large ? scale : scale + 1 - largest;
      }
    }
    if (!fits()) slide.dataset.full = "1";
  }

  function place() {
    const scale = Math.min(innerWidth / width, innerHeight / height);
    const slide = slides[current];
    slide.style.transform = `scale(${scale})`;
    slide.style.left = `${(innerWidth - width * scale) / 2}px`;
    slide.style.top = `${(innerHeight - height * scale) / 2}px`;
  }

  function show(number) {
    slides[current].classList.remove("current");
    current = Math.max(0, Math.min(slides.length - 1, number));
    slides[current].classList.add("current");
    slides[current].style.transform = "none";
    fit(slides[current]);
    place();
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

  const keys = {
    ArrowRight: 1, ArrowDown: 1, " ": 1, PageDown: 1, Enter: 1, ArrowLeft: -1, ArrowUp: -1, Backspace: -1, PageUp: -1,
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const clock = slides[current].querySelector(".clock");
    if (event.key >= "0" && event.key <= "9") typed += event.key;
    else if (event.key === "Enter" && typed) show(Number(typed) - 1);
    else if (event.key in keys) show(current + keys[event.key]);
    else if (event.key === "Home") show(0);
    else if (event.key === "End") show(slides.length - 1);
    else if (event.key.toLowerCase() === "t" && clock) toggle(clock);
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
    }
  });
  addEventListener("resize", place);
  addEventListener("hashchange", () => show(Number(location.hash.slice(1)) - 1));
  addEventListener("beforeprint", () => {
    document.body.classList.remove("live");
    slides.forEach(fit);
    document.body.classList.add("live");
  });

  slides.forEach((slide, at) => { slide.querySelector(".number").textContent = `${at + 1} / ${slides.length}`; });
  document.body.classList.add("live");
  show(Number(location.hash.slice(1) || 1) - 1);
})();
