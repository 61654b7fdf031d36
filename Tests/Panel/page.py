"""One browser tab: what a person does and sees there, with mouse or keyboard."""

import base64

# The most presses of Tab until an element must have the focus.
TAB_LIMIT = 300
# Whether a pointer at this position hits the element.
HITS = """function (x, y) {
  const hit = document.elementFromPoint(x, y);
  return hit !== null && (this.contains(hit) || hit.contains(this) && hit.tagName === "LABEL");
}"""
# Keys by name: code, number and text.
KEYS = {
    "Tab": ("Tab", 9, ""), "Enter": ("Enter", 13, "\r"), "Space": ("Space", 32, " "), "Escape": ("Escape", 27, ""),
    "ArrowDown": ("ArrowDown", 40, ""), "ArrowUp": ("ArrowUp", 38, ""), "Home": ("Home", 36, ""), "End": ("End", 35, ""),
}

# Whether the focused element shows that it has the focus.
FOCUS_IS_VISIBLE = """(() => {
    const item = document.activeElement;
    if (!item || item === document.body) return false;
    const style = getComputedStyle(item);
    // The button of a date's control has the focus inside of it, and the control shows it.
    return (item.matches(":focus-visible") || item.type === "datetime-local") &&
        (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0 || style.boxShadow !== "none");
})()"""


class StepError(Exception):
    """The page isn't as the step expects."""


class Page:
    """A tab of a browser. `problems` collects the browser's complaints: script errors, violations of the content
    security policy, and failures to load something."""

    def __init__(self, browser, origin):
        self.browser = browser
        self.origin = origin
        self.problems = []
        self.status = None
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        browser.listeners.append(self._hear)
        self.loads = 0
        for domain in ("Page", "Runtime", "Log", "Network", "DOM", "Accessibility"):
            self.call(f"{domain}.enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)
        self.frame = self.call("Page.getFrameTree")["frameTree"]["frame"]["id"]

    def close(self):
        self.browser.listeners.remove(self._hear)
        self.browser.call("Target.closeTarget", targetId=self.target)

    def front(self):
        """Brings the tab to the front, since background tabs may not be drawn."""
        self.call("Page.bringToFront")

    def call(self, method, **parameters):
        return self.browser.call(method, session=self.session, **parameters)

    def _hear(self, event):
        if event.get("sessionId") != self.session:
            return
        method, details = event.get("method"), event.get("params", {})
        if method == "Page.loadEventFired":
            self.loads += 1
        elif method == "Runtime.exceptionThrown":
            self.problems.append(details["exceptionDetails"].get("exception", {}).get("description", "a script failed"))
        elif method == "Log.entryAdded" and details["entry"]["level"] == "error":
            # An error page isn't a problem in itself, since steps check the status.
            if "status of 4" not in details["entry"]["text"] or "/panel/assets" in details["entry"].get("url", ""):
                self.problems.append(f"{details['entry']['text']} {details['entry'].get('url', '')}")
        elif method == "Network.responseReceived" and details.get("type") == "Document":
            if details.get("frameId") == self.frame:
                self.status = details["response"]["status"]

    # Content

    def run(self, script, context=None):
        """Returns the value of an expression, or of the promise that it returns."""
        options = {"contextId": context} if context else {}
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True, **options)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise StepError(details.get("exception", {}).get("description", details.get("text")))
        return answer["result"].get("value")

    @property
    def path(self):
        return self.run("location.pathname + location.search")

    @property
    def title(self):
        return self.run("document.title")

    @property
    def text(self):
        return self.run("document.body.innerText")

    def find(self, role, name, exact=True):
        """The element with this role and name in the accessibility tree; None if there is none."""
        root = self.call("DOM.getDocument", depth=0)["root"]["nodeId"]
        options = {"accessibleName": name} if exact else {}
        for node in self.call("Accessibility.queryAXTree", nodeId=root, role=role, **options)["nodes"]:
            label = node.get("name", {}).get("value", "")
            if not node.get("ignored") and (label == name if exact else name in label):
                return node["backendDOMNodeId"]
        return None

    def need(self, role, name, exact=True):
        found = self.browser.wait(f"{role} '{name}' at {self.path}", lambda: self.find(role, name, exact), timeout=5)
        return found

    def heading(self):
        return self.run("document.querySelector('h1')?.innerText ?? ''").strip()

    # Navigation

    def loaded(self, action, timeout=15):
        """Does something that loads a page, and waits until it's loaded."""
        before = self.loads
        action()
        self.browser.wait("a loaded page", lambda: self.loads > before, timeout=timeout)
        # Wait until the scripts that run at the start of the page have finished.
        self.run("new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)))")

    def open(self, path):
        self.loaded(lambda: self.call("Page.navigate", url=self.origin + path))
        if self.status and self.status >= 400:
            raise StepError(f"{path} answers with status {self.status}: {self.heading()}")

    # The mouse

    def _middle(self, node):
        """The position at which a pointer hits an element. Retries, since a newly loaded page may scroll by itself."""
        found = self.call("DOM.resolveNode", backendNodeId=node)["object"]["objectId"]
        for _ in range(60):
            self.ask(found, "function () { this.scrollIntoView({block: 'center', behavior: 'instant'}) }")
            quads = self.call("DOM.getContentQuads", backendNodeId=node)["quads"]
            if not quads:
                raise StepError("The element isn't visible.")
            x, y = sum(quads[0][0::2]) / 4, sum(quads[0][1::2]) / 4
            if self.ask(found, HITS, x, y):
                break
            self.run("new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)))")
        return x, y

    def ask(self, object_id, function, *arguments):
        """Calls a function on an element and returns its result."""
        return self.call(
            "Runtime.callFunctionOn", objectId=object_id, functionDeclaration=function, returnByValue=True,
            arguments=[{"value": value} for value in arguments])["result"].get("value")

    def click(self, role, name, exact=True):
        x, y = self._middle(self.need(role, name, exact))
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def attach(self, selector, file):
        """Sets the file of a file input, whose dialogue belongs to the system, not to the page."""
        root = self.call("DOM.getDocument", depth=0)["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        if not node:
            raise StepError(f"{self.path} has no {selector}.")
        self.call("DOM.setFileInputFiles", nodeId=node, files=[file])

    # The keyboard

    def press(self, key, shift=False):
        code, number, text = KEYS.get(key) or (f"Key{key.upper()}", ord(key.upper()[0]), key)
        event = {
            "key": " " if key == "Space" else key, "code": code, "windowsVirtualKeyCode": number,
            "modifiers": 8 if shift else 0,
        }
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **event)
        self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def letters(self, text):
        """Types letters as key presses, as for choosing from a list."""
        for letter in text:
            self.press("Space" if letter == " " else letter)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def focused(self):
        """The role and name of the focused element in the accessibility tree."""
        answer = self.call("Runtime.evaluate", expression="document.activeElement")["result"]
        if "objectId" not in answer:
            return "", ""
        nodes = self.call("Accessibility.getPartialAXTree", objectId=answer["objectId"], fetchRelatives=False)["nodes"]
        node = nodes[0] if nodes else {}
        return node.get("role", {}).get("value", ""), node.get("name", {}).get("value", "")

    def tab_to(self, role, name, exact=True, limit=TAB_LIMIT):
        """Presses Tab until an element has the focus, and requires a visible focus at every step."""
        way = []
        for _ in range(limit):
            self.press("Tab")
            found = self.focused()
            if found[0] not in ("", "none", "RootWebArea") and not self.run(FOCUS_IS_VISIBLE):
                raise StepError(f"The focus isn't visible on {found[0]} '{found[1]}' at {self.path}.")
            way.append(found)
            if found[0] == role and (found[1] == name if exact else name in found[1]):
                return
        seen = ", ".join(f"{role} '{name}'" for role, name in dict.fromkeys(way[:40]))
        raise StepError(f"Tab doesn't reach {role} '{name}' at {self.path}. It reaches: {seen}.")

    # Pictures

    def show(self, width, height, scale=1, mobile=False, dark=False):
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=mobile)
        scheme = "dark" if dark else "light"
        self.call(
            "Emulation.setEmulatedMedia",
            features=[
                {"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"},
            ])
        self.run("new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)))")

    def picture(self, file):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(file, "wb") as output:
            output.write(base64.b64decode(data))

    def sideways(self):
        """The number of pixels by which the page is wider than the window."""
        return self.run("document.documentElement.scrollWidth - document.documentElement.clientWidth")

    def isolated_world(self):
        """A context for test scripts, isolated from the page's scripts and its security policy."""
        return self.call("Page.createIsolatedWorld", frameId=self.frame, worldName="checks")["executionContextId"]


