"""A page as a reader's machine sees it."""

from __future__ import annotations

import re
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "hr", "img", "input"}


class Element:
    def __init__(self, tag, attributes, parent):
        self.tag, self.attributes, self.parent = tag, dict(attributes), parent
        self.children, self.words = [], []

    def all(self, *tags):
        for child in self.children:
            if not tags or child.tag in tags:
                yield child
            yield from child.all(*tags)

    @property
    def text(self):
        return " ".join("".join(self._texts()).split())

    def _texts(self):
        for part in self.words:
            yield part if isinstance(part, str) else "".join(part._texts())


class _Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.root = self.here = Element("document", {}, None)

    def handle_starttag(self, tag, attributes):
        element = Element(tag, attributes, self.here)
        self.here.children.append(element)
        self.here.words.append(element)
        if tag not in VOID:
            self.here = element

    def handle_startendtag(self, tag, attributes):
        element = Element(tag, attributes, self.here)
        self.here.children.append(element)

    def handle_endtag(self, tag):
        assert self.here.tag == tag, f"</{tag}> closes <{self.here.tag}>"
        self.here = self.here.parent

    def handle_data(self, data):
        self.here.words.append(data)


def read_page(text):
    reader = _Reader()
    reader.feed(text)
    assert reader.here is reader.root, "an element was not closed"
    return reader.root


def style_colours(text):
    """The text colours of a page's style, each with the background of the same rule or the page's own."""
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)[1]
    for selector, rules in re.findall(r"([^{}]+)\{([^{}]*)\}", style):
        found = dict(re.findall(r"(?:^|;|\s)(color|background)\s*:\s*(#[0-9a-fA-F]{6})", rules))
        if "color" in found:
            yield selector.strip(), found["color"], found.get("background")
