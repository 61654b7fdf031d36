"""Runs steps and prints their results, and collects pictures and findings."""

import sys
import time

from devtools import BrowserError
from page import StepError

# Width, height, scale, whether it's a phone, whether it's in dark mode.
LOOKS = {
    "light": (1280, 800, 1, False, False),
    "dark": (1280, 800, 1, False, True),
    "phone": (390, 844, 2, True, False),
}


class Report:
    """Runs steps. A step is a function of a page."""

    def __init__(self, folder, accessibility):
        self.folder = folder
        self.accessibility = accessibility
        self.passed = 0
        self.failed = 0
        self.pictures = []

    def step(self, page, name, action):
        """Returns whether the step passed. If it didn't, takes a picture of the page."""
        began = time.monotonic()
        problem = None
        try:
            page.problems.clear()
            action(page)
            if page.problems:
                problem = "The browser complains: " + "; ".join(page.problems[:3])
        except (StepError, BrowserError) as error:
            problem = str(error)
        duration = f"{(time.monotonic() - began) * 1000:5.0f} ms"
        if problem is None:
            self.passed += 1
            print(f"ok      {duration}  {name}", flush=True)
            return True
        self.failed += 1
        print(f"FAILED  {duration}  {name}\n        {problem}", flush=True)
        try:
            page.picture(f"{self.folder}/failed-{self.failed}.png")
            print(f"        picture: {self.folder}/failed-{self.failed}.png", flush=True)
        except (StepError, BrowserError) as error:
            print(f"        no picture: {error}", file=sys.stderr, flush=True)
        return False

    def walk(self, page, name, steps):
        """Runs steps that build on each other. The first failure ends the walk."""
        for place, (words, action) in enumerate(steps, 1):
            if not self.step(page, f"{name}: {words}", action):
                left = len(steps) - place
                if left:
                    print(f"        {left} more steps of this walk were skipped", flush=True)
                return

    def look(self, page, name, path):
        """Takes pictures of a page in every look, and runs axe on each. The path may be a function that finds it; without
        a path, it's the current page."""
        def opening(page):
            if path is not None:
                page.open(path(page) if callable(path) else path)
        opened = self.step(page, f"page {name}: opens", opening)
        for look, size in LOOKS.items() if opened else []:
            self.step(page, f"page {name}: {look}", lambda page: self._look(page, name, look, size))
        page.show(*LOOKS["light"])

    def visit(self, page, name, lead, path, leave):
        """Like `look`, for a page that an action leads to."""
        if self.step(page, f"page {name}: is reached", lead):
            self.look(page, name, path)
            if leave:
                self.step(page, f"page {name}: is left", leave)

    def _look(self, page, name, look, size):
        page.show(*size)
        if look == "phone":
            # The page collapses its menu while it loads.
            page.loaded(lambda: page.call("Page.reload"))
        file = f"{name}-{look}.png"
        page.picture(f"{self.folder}/{file}")
        self.pictures.append((name, look, file))
        refused = self.accessibility.check(page, name, look)
        if refused:
            raise StepError("\n        ".join(refused))
        if page.sideways() > 0:
            raise StepError(f"The page is {page.sideways()} pixels wider than the window: it scrolls sideways.")

    def write(self):
        """Writes index.html with all pictures, and the findings."""
        summary = self.accessibility.write(self.folder)
        rows = "\n".join(
            f'<figure><a href="{file}"><img src="{file}" alt="{name}, {look}" loading="lazy"></a>'
            f"<figcaption>{name}, {look}</figcaption></figure>"
            for name, look, file in self.pictures)
        with open(f"{self.folder}/index.html", "w", encoding="utf-8") as output:
            output.write(
                '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Pictures of the panel</title><style>'
                "body{font:1rem system-ui,sans-serif;display:flex;flex-wrap:wrap;gap:1rem}figure{margin:0}"
                f"img{{height:20rem;border:1px solid}}</style><h1>Pictures of the panel</h1><p>{summary}</p>{rows}</html>\n")
        return summary
