"""An HTML page as its parts."""

from html.parser import HTMLParser

VOID = {"meta", "br", "link"}


class Page(HTMLParser):
    """The text, ids, links and tags of a page; every tag has to be closed."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.tags, self.text, self.data, self._open = [], [], [], [], "", []
        self.feed(text)
        assert not self._open

    def handle_starttag(self, tag, attributes):
        """Its ids and links, and that it is open."""
        self.tags.append((tag, dict(attributes)))
        self.ids += [value for name, value in attributes if name == "id"]
        self.links += [value for name, value in attributes if name in ("href", "xlink:href", "src")]
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attributes):
        """Opened and closed at once."""
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self._open.pop()

    def handle_endtag(self, tag):
        """The one that was opened last."""
        assert self._open.pop() == tag

    def handle_data(self, data):
        """Text, or the data inside."""
        if self._open and self._open[-1] == "script":
            self.data = data
        elif self._open and self._open[-1] != "style":
            self.text.append(data)
