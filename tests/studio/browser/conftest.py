"""A browser that the system has. Without one these tests are skipped with the reason, or fail where it is required."""

import os
import shutil
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WIDTHS = {"wide": 1280, "middle": 768, "narrow": 320}
SLOW = 240_000
"""Milliseconds that a page may take to show what a process of its own computes."""
AXE = Axe()
PICTURES = os.environ.get("MEDVEIL_SCREENSHOTS")


@pytest.fixture(scope="session")
def chromium():
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        reason = "there is no Chromium on this system"
        if os.environ.get("MEDVEIL_BROWSER_REQUIRED"):
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as started:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = started.chromium.launch(executable_path=found, args=arguments)
        yield browser
        browser.close()


class Tab:
    """A page of one browser that was let in, with what people do on it."""

    def __init__(self, browser, studio, **options):
        self.studio = studio
        self.context = browser.new_context(viewport={"width": 1280, "height": 900}, **options)
        self.faults = []
        self.known = []
        for name, value in studio.client.cookies.items():
            self.context.add_cookies([{"name": name, "value": value, "url": studio.base}])
        self.page = self.open()

    def open(self):
        page = self.context.new_page()
        page.set_default_timeout(SLOW)

        def listen(told):
            if told.type == "error":
                self.faults.append(told.text)

        def dismiss(dialog):
            self.faults.append("a dialog opened")
            dialog.dismiss()

        page.on("pageerror", lambda error: self.faults.append(f"script: {error}"))
        page.on("console", listen)
        page.on("dialog", dismiss)
        return page

    def go(self, path):
        self.page.goto(f"{self.studio.base}{path}")
        return self

    def press(self, name, role="button"):
        self.page.get_by_role(role, name=name).first.click()
        return self

    def wait(self, selector):
        self.page.wait_for_selector(selector)
        return self

    @property
    def project(self):
        return self.page.url.split("/projects/")[1].split("/")[0]

    def looks_right(self, name):
        """No axe violation in either scheme, and nothing is wider than the page at any width."""
        for scheme in ("light", "dark"):
            self.page.emulate_media(color_scheme=scheme)
            found = AXE.run(
                self.page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"]}
            )
            assert found.violations_count == 0, f"{name}, {scheme}: {found.generate_report()}"
            for width, pixels in WIDTHS.items():
                self.page.set_viewport_size({"width": pixels, "height": 900})
                beyond = self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
                assert beyond <= 0, f"{name} is {beyond} pixels too wide at {pixels}"
                if PICTURES:
                    self.page.screenshot(path=Path(PICTURES) / f"{name}-{width}-{scheme}.png", full_page=True)
            self.page.set_viewport_size({"width": 1280, "height": 900})
        self.page.emulate_media(color_scheme="light")
        self.page.set_viewport_size({"width": 1280, "height": 900})
        return self

    def close(self):
        self.context.close()


@pytest.fixture
def open_tab(chromium, studio):
    """Opens a tab with options of its own, such as no script. What its console faults is a fault of the test."""
    opened = []

    def make(**options):
        opened.append(Tab(chromium, studio, **options))
        return opened[-1]

    yield make
    for one in opened:
        one.close()
    for one in opened:
        assert not [fault for fault in one.faults if fault not in one.known]


@pytest.fixture
def tab(open_tab):
    return open_tab()
