"""Run, mutants and the viewer in Firefox: the tests of Chromium with another browser, where there is a Firefox.

What only Chromium's protocol measures, and what axe-core says, is not asked again.
"""

import unittest
from typing import Any

import listings
import live_site
import viewer
from live_site import CHAPTERS

_opened: list[Any] = []


def browser() -> Any:
    """One Firefox for all tests of a run."""
    if not _opened:
        import atexit

        import tools
        from cli import requirements
        from marionette import Firefox

        _opened.append(Firefox(tools.need(requirements.FIREFOX), 120).__enter__())
        atexit.register(_opened[0].__exit__, None, None, None)
    return _opened[0]


class FirefoxListings(unittest.TestCase):
    """Every kernel of two chapters runs in every order, and every mutant of them is noticed, from file://."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.browser = browser()
        cls.html = live_site.site_with_runs()
        cls.browser.shape(1280)

    def of_each_page(self):
        for name in CHAPTERS:
            address = (self.html / f"{name}.html").as_uri()
            self.assertEqual(self.browser.open(address), [])
            yield address
            self.assertEqual(self.browser.problems(), [])

    test_kernels_run_in_every_order_and_nothing_is_found = listings.Listings.test_kernels_run_in_every_order_and_nothing_is_found
    test_every_mutant_is_shown_and_noticed = listings.Listings.test_every_mutant_is_shown_and_noticed
    test_a_run_can_be_watched_and_its_moments_linked = listings.Listings.test_a_run_can_be_watched_and_its_moments_linked


class FirefoxViewer(unittest.TestCase):
    """A page of `replay --html`: its states, keys, findings and links."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.browser = browser()
        cls.pages, cls.recordings = viewer.recorded(cls)
        cls.browser.shape(1280)

    open, ask, event = viewer.Viewer.open, viewer.Viewer.ask, viewer.Viewer.event

    def press(self, key: str) -> None:
        self.browser.press(key)

    test_states_are_those_of_the_recording = viewer.Viewer.test_states_are_those_of_the_recording
    test_keys_step_by_event_by_warp_and_to_findings = viewer.Viewer.test_keys_step_by_event_by_warp_and_to_findings
    test_a_finding_leads_to_the_events_it_is_about = viewer.Viewer.test_a_finding_leads_to_the_events_it_is_about
    test_the_table_and_the_status_say_the_step = viewer.Viewer.test_the_table_and_the_status_say_the_step
    test_a_link_leads_to_a_moment = viewer.Viewer.test_a_link_leads_to_a_moment
