"""The viewer of recorded launches in a browser: steps, findings, links, keys, the table; what it shows of a moment is compared with
what is computed here from the numbers of the recording."""

import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
from collections import defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "common"), str(ROOT / "tests/docs")]

LAUNCHES = ("race", "early_read", "deadlock", "groups")
MOST_MILLISECONDS = 50
"""For a step, in a recording of a million events."""
MOST_TRIES = 8
"""Of a step: the least time counts."""
WIDTHS = (1440, 390)

STATE = """(() => {
    const view = hopperViewer.page, { state, events, sharedView } = view, { plan } = state;
    const words = {};
    for (let word = 0; word < plan.sharedWords; ++word) {
        const writer = state.writer(word * 4);
        if (writer >= 0) words[word] = writer;
    }
    const groups = {};
    for (const warp of events.warps)
        for (let lane = 0; lane < 32; ++lane)
            for (let completion = 0; completion < 5; ++completion) {
                const { committed, observed } = state.group(warp, lane, completion);
                if (committed >= 0) groups[`${warp} ${lane} ${completion}`] = [committed, observed];
            }
    const barriers = Object.fromEntries([...plan.barriers.keys()].map(address => [address, state.barrier(address)])
        .filter(([, { valid }]) => valid === 1).map(([address, { phase, pending, bytes }]) => [address, [phase, pending, bytes]]));
    const waiting = events.warps.filter(warp => state.warp(warp).wait >= 0);
    return JSON.stringify({ words, groups, barriers, waiting, flying: [...state.flying].sort((a, b) => a - b), event: view.event });
})()"""
"""What the viewer believes behind its event."""

MILLION = """(async () => {
    const kinds = NAMES.moments, number = name => kinds.indexOf(name), events = [], put = (...all) => events.push(all.length, ...all);
    let copy = 0, seed = 7;
    const random = most => (seed = (seed * 1103515245 + 12345) % 2147483648) % most;
    put(number('mbarrier_init'), 0, 1, 1, 1024, 1);
    for (let i = 1; i < 1_000_000;) {
        const warp = random(16), lanes = 0xffffffff;
        if (random(50) === 0) {
            ++copy;
            put(number('issue'), warp, 2, 1, copy, 1, 1, 2, 1024, 4096, 0, 4096, 1, 1, 2048 + 4096 * random(16), 4096, 0);
            put(number('mbarrier_arrive'), warp, 3, 1, 1024, copy - 1, 1, 4096, 0, 0, 4096);
            put(number('wait'), (warp + 1) % 16, 4, lanes, 1, 7, 1024);
            put(number('landed'), -1, 0, 0, copy, 1);
            put(number('mbarrier_arrive'), -1, 0, 0, 1024, copy - 1, 0, -4096, copy, 0, 0);
            put(number('mbarrier_phase'), -1, 0, 0, 1024, copy - 1, 1);
            i += 6;
        } else if (random(3) === 0) {
            put(number('shared_access'), warp, 5, lanes, 1, 4, 1, 1, 1, 2048 + 128 * random(512), 4);
            ++i;
        } else {
            put(number('instruction'), warp, 6 + random(50), lanes);
            ++i;
        }
    }
    const instructions = Object.fromEntries(Array.from({ length: 64 }, (_, pc) => [pc, ['add.s32', 0, 1 + pc, []]]));
    const recording = { kernel: 'made_up', names: NAMES, grid: [1, 1, 1], block: [512, 1, 1], cluster: [1, 1, 1], shared: 2048 + 65536 + 1024,
        instructions, files: [['made_up.cu', Array.from({ length: 64 }, (_, i) => `line ${i + 1}`).join('\\n')]], barriers: { 1024: 'full' },
        clusters: [{ cluster: 0, blocks: [[0, 0, 0]], cut: false, events }], findings: [] };
    const view = hopperViewer.open(document.getElementById('viewer'), recording);
    view.runs.open = true;
    hopperViewer.page = view;
    return JSON.stringify([view.events.count, view.state.pages.pages.length]);
})()"""
"""Opens a made-up recording."""

STEP = """(async () => {
    const view = hopperViewer.page;
    view.zoom = ZOOM;
    view.go(EVENT);
    await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
    return view.element.getBoundingClientRect().height;
})()"""
"""A step, until it is on the screen."""

REVERSED = """(() => {
    const { recording } = hopperViewer.page, { link } = hopperViewer.page.options;
    for (const each of recording.findings) {
        each.places.reverse();
        each.finding.locations.reverse();
    }
    recording.clusters.forEach(each => { each.events = each.numbers; });
    hopperViewer.page = hopperViewer.open(document.getElementById('viewer'), recording, { link });
})()"""
"""Opens the recording again, with each finding's places the other way round."""

BACK = "(hopperViewer.page.go(0), new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn))))"
"""To the first event, until that is on the screen: its drawing is not the next step's."""


class Moments:
    """What a recording says behind each event, computed step by step and without haste."""

    def __init__(self, recording: dict[str, Any]) -> None:
        self.kinds: list[str] = recording["names"]["moments"]
        self.events: list[list[int]] = []
        numbers, at = recording["clusters"][0]["events"], 0
        while at < len(numbers):
            self.events.append(numbers[at + 1 : at + 1 + numbers[at]])
            at += 1 + numbers[at]

    def behind(self, last: int) -> dict[str, Any]:
        words: dict[str, int] = {}
        groups: dict[str, list[int]] = {}
        barriers: dict[str, list[int]] = {}
        expected: dict[int, int] = {}
        latest: dict[int, str] = {}
        flying: set[int] = set()
        issued: dict[int, tuple[int, list[tuple[int, int]]]] = {}
        whole: dict[int, bool] = defaultdict(bool)
        for number, (code, warp, _, lanes, *more) in enumerate(self.events[: last + 1]):
            kind = self.kinds[code]
            mine = [lane for lane in range(32) if lanes >> lane & 1]
            if warp >= 0:
                latest[warp], whole[warp] = kind, kind == "wait" and more[0] == 1
            if kind == "shared_access" and more[0] != 0:
                at = more[5:] if more[4] == 0 else [more[5] + more[6] * i for i in range(len(mine))]
                for address in at:
                    words |= {str(byte // 4): number for byte in range(address, address + more[1])}
            elif kind == "issue":
                pieces = [(more[10 + 2 * i], more[11 + 2 * i]) for i in range(more[9])]
                for i in range(more[1]):
                    issued[more[0] + i] = (number, pieces if more[1] == 1 else [pieces[i]])
                    flying.add(more[0] + i)
            elif kind == "landed":
                for copy in range(more[0], more[0] + more[1]):
                    flying.discard(copy)
                    by, pieces = issued[copy]
                    for begin, size in pieces:
                        words |= {str(byte // 4): by for byte in range(begin, begin + size)}
            elif kind == "mbarrier_init":
                expected[more[0]] = more[1]
                barriers[str(more[0])] = [0, more[1], 0]
            elif kind == "mbarrier_arrive":
                barrier = barriers[str(more[0])]
                barrier[1] -= more[2]
                barrier[2] += more[3]
            elif kind == "mbarrier_phase":
                barriers[str(more[0])] = [barriers[str(more[0])][0] + 1, expected[more[0]], 0]
            elif kind in ("commit", "group_observed"):
                for lane in mine:
                    entry = groups.setdefault(f"{warp} {lane} {more[0]}", [-1, -1])
                    if kind == "commit":
                        entry[0] = more[1]
                    elif not more[2]:
                        entry[1] = more[1]
        groups = {key: value for key, value in groups.items() if value[0] >= 0}
        waiting = sorted(warp for warp, kind in latest.items() if kind == "wait" and whole[warp])
        return {"words": words, "groups": groups, "barriers": barriers, "waiting": waiting, "flying": sorted(flying), "event": last}


def recorded(of: type[unittest.TestCase]) -> tuple[dict[str, Path], dict[str, dict[str, Any]]]:
    """A page for each of the launches, kept until the tests `of` are done, and what it shows."""
    program = os.environ.get("PAGE_DESCRIBE")
    if not program:
        raise unittest.SkipTest("PAGE_DESCRIBE names no program")
    from cli import viewer
    from cli.workspace import Workspace

    workspace = Workspace(ROOT, Path(os.environ.get("WORKBOOK_BUILD") or ROOT / "build"))
    kept = tempfile.TemporaryDirectory()
    of.addClassCleanup(kept.cleanup)
    pages, recordings = {}, {}
    for name in LAUNCHES:
        file = ROOT / f"tests/page/launches/{name}.txt"
        done = subprocess.run([program, str(file), "late", "3"], capture_output=True, text=True, check=True)
        text = next(line for line in done.stdout.splitlines() if line.startswith('{"kernel"') and '"clusters"' in line)
        recordings[name] = json.loads(text)
        pages[name] = Path(kept.name) / f"{name}.html"
        pages[name].write_text(viewer.page(workspace, text, f"{name}, event by event"), "utf-8")
    return pages, recordings


class Viewer(unittest.TestCase):
    """Needs the host's library with describe.cpp, and a browser."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.pages, cls.recordings = recorded(cls)
        import tools
        from browser import Browser
        from cli import requirements

        cls.browser = Browser(tools.need(requirements.BROWSER), 120).__enter__()
        cls.addClassCleanup(cls.browser.__exit__, None, None, None)

    def open(self, name: str, fragment: str = "") -> None:
        self.browser.open("about:blank")  # Else another fragment of the same page would load nothing.
        self.assertEqual(self.browser.open(f"{self.pages[name].as_uri()}{fragment}"), [])
        self.ask("(async () => { for (let i = 0; i < 200 && !hopperViewer.page; ++i) await new Promise((r) => setTimeout(r, 10)); })()")

    def ask(self, script: str) -> Any:
        return self.browser.evaluate(script)

    def press(self, key: str) -> None:
        text = {"text": key} if len(key) == 1 else {}
        self.browser.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.browser.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def event(self) -> int:
        return int(self.ask("hopperViewer.page.event"))

    def test_states_are_those_of_the_recording(self) -> None:
        chance = random.Random(5)
        for name in LAUNCHES:
            self.open(name)
            moments = Moments(self.recordings[name])
            last = len(moments.events) - 1
            for step in [0, last, *(chance.randint(0, last) for _ in range(12))]:
                self.ask(f"hopperViewer.page.go({step})")
                shown = json.loads(self.ask(STATE))
                self.assertEqual(shown, moments.behind(step), f"{name}, event {step}")
        # The launches have something of each kind.
        seen = {moments.kinds[each[0]] for name in LAUNCHES for each in Moments(self.recordings[name]).events}
        for kind in ("issue", "landed", "commit", "group_observed", "mbarrier_phase", "wait", "deadlock", "shared_access"):
            self.assertIn(kind, seen)

    def test_keys_step_by_event_by_warp_and_to_findings(self) -> None:
        self.open("race")
        events = [each[:2] for each in Moments(self.recordings["race"]).events]
        self.ask("hopperViewer.page.slider.focus()")
        self.press("Home")
        for key, expected in (("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", len(events) - 1), ("Home", 0)):
            self.press(key)
            self.assertEqual(self.event(), expected, key)
        self.press("w")
        self.press("ArrowDown")
        warp = int(self.ask("hopperViewer.page.warp.select.value"))
        self.assertEqual(self.event(), next(i for i, each in enumerate(events) if i and each[1] == warp))
        self.press("Home")
        finding = self.recordings["race"]["findings"][0]
        self.assertEqual(finding["finding"]["name"], "race-shared")
        for place in sorted({*finding["places"], finding["event"]}):
            self.press("f")
            self.assertEqual(self.event(), place)
        self.press("F")
        self.assertEqual(self.event(), min(finding["places"]))

    def test_a_finding_leads_to_the_events_it_is_about(self) -> None:
        self.open("race")
        finding = self.recordings["race"]["findings"][0]
        events = Moments(self.recordings["race"]).events
        places = sorted(zip(finding["finding"]["locations"], finding["places"], strict=True), key=lambda each: each[1])
        for i, (place, at) in enumerate(places):
            self.ask(f"document.querySelectorAll('.hv-finding button')[{i}].click()")
            self.assertEqual(self.event(), at)
            _, file, line, _ = self.recordings["race"]["instructions"][str(events[at][2])]
            self.assertEqual((self.recordings["race"]["files"][file][0], line), (place["file"], place["line"]))
            self.assertIn(str(place["line"]), self.ask("document.querySelector('.hv-here .hv-number').textContent"))
            self.assertIn(place["role"].split()[0], self.ask("document.querySelector('.hv-here em').textContent"))
        verbs = [events[at][4] for at in finding["places"]]
        self.assertEqual(verbs, [0, 1])  # A read, then the write that is named second.

    def test_it_opens_at_the_first_event_of_what_was_found(self) -> None:
        for name in LAUNCHES:
            findings = self.recordings[name]["findings"]
            self.open(name)
            first = min((at for at in (*findings[0]["places"], findings[0]["event"]) if at >= 0), default=0) if findings else 0
            self.assertEqual(self.event(), first, name)
            cluster = findings[0]["cluster"] if findings else 0
            self.assertEqual(self.ask("hopperViewer.page.events.cluster"), cluster, name)
            shown = self.ask("[...document.querySelectorAll('.hv-steps button')].slice(-2).map(each => !each.hidden)")
            self.assertEqual(shown, [bool(findings)] * 2, name)

    def test_a_findings_buttons_are_in_the_order_of_its_events_and_say_where_one_is(self) -> None:
        self.open("early_read")
        # In a launch of this sort the read may be named before the wait that let it through.
        self.ask(REVERSED)
        told = self.ask("[...document.querySelectorAll('.hv-finding button')].map(each => Number(/event (\\d+)/.exec(each.textContent)[1]))")
        self.assertGreater(len(set(told)), 1)
        self.assertEqual(told, sorted(told))
        pressed = "[...document.querySelectorAll('.hv-finding button')].map(each => each.getAttribute('aria-pressed'))"
        self.assertEqual(self.ask(pressed)[0], "true")
        self.assertNotIn("true", self.ask(pressed)[1:])
        disabled = "hopperViewer.page.findingButtons.map(each => each.getAttribute('aria-disabled'))"
        self.assertEqual(self.ask(disabled), ["true", "false"])
        self.ask("(() => { const [, next] = hopperViewer.page.findingButtons; next.focus(); for (let i = 0; i < 99; ++i) next.click(); })()")
        self.assertEqual(self.ask(disabled), ["false", "true"])
        self.assertEqual(self.ask("document.activeElement === hopperViewer.page.findingButtons[1]"), True)

    def test_what_a_barrier_misses_is_seen_and_the_steps_stay_in_view(self) -> None:
        for width in (*WIDTHS, 1000):
            self.browser.shape(width)
            self.open("deadlock")
            with self.subTest(width=width):
                self.assertEqual(self.ask("(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.hv-wide'))"), 0)
                self.assertIn("bytes missing", self.ask("document.querySelector('.hv-wide').innerText"))
                self.ask("document.querySelector('.hv-table').scrollIntoView({ block: 'end', behavior: 'instant' })")
                self.assertGreater(self.ask("scrollY"), 200)
                top, bottom = self.ask("(({ top, bottom }) => [top, bottom])(document.querySelector('.hv-steps').getBoundingClientRect())")
                self.assertGreaterEqual(top, 0)
                self.assertLess(bottom, 200)
        self.browser.shape(1280)

    def test_the_table_and_the_status_say_the_step(self) -> None:
        self.open("groups")
        kinds = [each[0] for each in Moments(self.recordings["groups"]).events]
        names = self.recordings["groups"]["names"]["moments"]
        at = kinds.index(names.index("issue"))
        self.ask(f"hopperViewer.page.go({at})")
        row = self.ask("document.querySelector('.hv-table tr[aria-current]').innerText")
        self.assertRegex(row, rf"{at}\b.*issues copies 1 to 32: cp.async, 128 bytes to offset 1024, generic proxy, in cp.async group 0")
        self.assertRegex(self.ask("document.querySelector('[aria-live]').textContent"), rf"^Event {at} of {len(kinds) - 1}: warp 0 \(32 lanes\) issues copies 1 to 32")
        conflict = kinds.index(names.index("shared_access"))
        more = Moments(self.recordings["groups"]).events[conflict][4:]
        banks: dict[int, set[int]] = defaultdict(set)
        for word in (address // 4 for address in more[5:]):
            banks[word % 32].add(word)
        passes = max(map(len, banks.values()))
        self.assertGreater(passes, 1)
        self.ask(f"hopperViewer.page.go({conflict})")
        self.assertIn(f"{passes} wavefronts, where 1 would do", self.ask("document.querySelector('.hv-status').textContent"))
        self.ask("document.querySelector('.hv-table tbody tr').click()")
        self.assertLess(self.event(), conflict)

    def test_the_list_says_who_wrote_what(self) -> None:
        self.open("groups")
        self.ask("(hopperViewer.page.go(1e9), hopperViewer.page.runs.open = true, 0)")
        self.ask("new Promise((done) => setTimeout(done, 100))")
        first, *others = self.ask("document.querySelector('.hv-runs ul').innerText").splitlines()
        # Each thread brought 8 bytes by two copies: those of a warp's first instruction are one event, each with 32 pieces.
        self.assertRegex(first, r"^Offsets 1024 to 1027: written by a cp.async that warp 0 issued, generic proxy, event \d+$")
        self.assertGreater(len(others), 20)
        self.open("race")
        self.ask("(hopperViewer.page.go(1e9), hopperViewer.page.runs.open = true, 0)")
        self.ask("new Promise((done) => setTimeout(done, 100))")
        lines = self.ask("document.querySelector('.hv-runs ul').innerText").splitlines()
        self.assertEqual(lines, [f"Offsets {1024 + 128 * i} to {1151 + 128 * i}: written by warp {i}, generic proxy" for i in range(2)])

    def test_a_link_leads_to_a_moment(self) -> None:
        self.open("early_read", "#1.9")
        self.assertEqual((self.event(), self.ask("hopperViewer.page.events.cluster")), (9, 1))
        self.assertEqual(self.ask("hopperViewer.page.link.getAttribute('href')"), "#1.9")
        self.ask("(location.hash = '#0.4', new Promise((done) => setTimeout(done, 100)))")
        self.assertEqual((self.event(), self.ask("hopperViewer.page.events.cluster")), (4, 0))

    def test_axe_sees_no_barrier_and_nothing_is_too_wide(self) -> None:
        import tools
        from cli import requirements
        from test_access import violations

        axe = tools.need(requirements.AXE).read_text("utf-8")
        for width in WIDTHS:
            for dark in (False, True):
                self.browser.shape(width, dark=dark)
                self.open("race", "#0.20")
                self.assertEqual(violations(self.browser, axe), [], f"{width} {dark}")
                self.assertLessEqual(self.ask("document.documentElement.scrollWidth"), width)
        self.browser.shape(1280)

    def test_a_million_events_step_at_once(self) -> None:
        self.open("race")
        names = json.dumps(self.recordings["race"]["names"])
        count, pages = json.loads(self.ask(MILLION.replace("NAMES", names)))
        self.assertGreaterEqual(count, 1_000_000)
        self.assertGreater(pages, 100)
        self.browser.call("Performance.enable", timeDomain="threadTicks")
        chance, times = random.Random(3), []
        for step in range(40):
            script = STEP.replace("ZOOM", "1" if step % 2 else "4096").replace("EVENT", str(chance.randrange(count)))
            tries: list[float] = []
            # What other programs take from the caches and from the processor's clock is not the step's.
            while len(tries) < 2 or (min(tries) > MOST_MILLISECONDS and len(tries) < MOST_TRIES):
                self.ask(BACK)
                before = self.worked()
                self.assertGreater(self.ask(script), 500)
                tries.append(self.worked() - before)
            times.append(min(tries))
        self.assertGreater(min(times), 0)
        self.assertLessEqual(max(times), MOST_MILLISECONDS, times)
        print(f"a step in {count} events: {max(times):.1f} ms at most", file=sys.stderr)

    def worked(self) -> float:
        """Milliseconds of the processor that the page has had, however busy the machine is, without those of the test's commands."""
        metrics = {each["name"]: each["value"] for each in self.browser.call("Performance.getMetrics")["metrics"]}
        return 1000 * (float(metrics["TaskDuration"]) - float(metrics["DevToolsCommandDuration"]))


if __name__ == "__main__":
    unittest.main()
