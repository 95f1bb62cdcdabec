# A page of a headless Chromium, driven over its pipe of the DevTools protocol: the browser reads
# requests from descriptor 3 and writes replies and events to descriptor 4, each ended by a NUL.
import json
import os
import select
import subprocess
import tempfile
import time


class PageError(Exception):
    pass


class Page:
    """Collects in `errors` what a console of the browser would show as an error."""

    def __init__(self, program):
        self.errors = []
        self._number = 0
        self._received = b""
        self._profile = tempfile.TemporaryDirectory(
            prefix="holdfast-chromium-", ignore_cleanup_errors=True)
        self._messages = tempfile.TemporaryFile()
        self._start(program)
        try:
            self._attach()
        except PageError:
            self.close()
            raise

    def _attach(self):
        target = self.request("Target.createTarget", {"url": "about:blank"})["targetId"]
        attached = self.request("Target.attachToTarget", {"targetId": target, "flatten": True})
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.request(domain + ".enable")

    def _start(self, program):
        self._session = None
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()

        def place_pipes():
            # Copies above 4 first, because a source may be 3 or 4 itself.
            high = [os.dup2(to_browser, 63), os.dup2(from_browser, 64)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        # Chromium refuses its own sandbox to root; the pages are our own.
        self._browser = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-dev-shm-usage", "--disable-background-networking",
             "--disable-component-update", "--disable-sync",
             "--user-data-dir=" + self._profile.name, "--remote-debugging-pipe"],
            preexec_fn=place_pipes, close_fds=False, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=self._messages)
        os.close(to_browser)
        os.close(from_browser)

    def close(self):
        self._browser.terminate()
        try:
            self._browser.wait(10)
        except subprocess.TimeoutExpired:
            self._browser.kill()
            self._browser.wait()
        self._messages.close()
        self._profile.cleanup()

    def _last_messages(self):
        """What the browser last said of itself, for an error."""
        self._messages.seek(0)
        lines = self._messages.read().decode(errors="replace").splitlines()
        return "".join("\n  | " + line for line in lines[-3:])

    def request(self, method, parameters=None):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters or {}}
        if self._session:
            message["sessionId"] = self._session
        try:
            os.write(self._out, json.dumps(message).encode() + b"\0")
        except BrokenPipeError:
            raise PageError("Chromium has ended" + self._last_messages()) from None
        limit = time.monotonic() + 180
        while True:
            reply = self._receive(limit)
            if reply.get("id") != self._number:
                continue
            if "error" in reply:
                raise PageError(f"{method}: {reply['error']['message']}")
            return reply["result"]

    def _receive(self, limit):
        while b"\0" not in self._received:
            readable, _, _ = select.select([self._in], [], [], max(0, limit - time.monotonic()))
            if not readable:
                raise PageError("Chromium sends no reply" + self._last_messages())
            data = os.read(self._in, 1 << 16)
            if not data:
                raise PageError("Chromium has ended" + self._last_messages())
            self._received += data
        text, self._received = self._received.split(b"\0", 1)
        message = json.loads(text)
        self._note_error(message.get("method"), message.get("params", {}))
        return message

    def _note_error(self, event, about):
        if event == "Runtime.exceptionThrown":
            details = about["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif event == "Runtime.consoleAPICalled" and about["type"] in ("error", "assert"):
            self.errors.append(" ".join(str(a.get("value", a)) for a in about["args"]))
        elif event == "Log.entryAdded" and about["entry"]["level"] == "error":
            self.errors.append(about["entry"]["text"] + " " + about["entry"].get("url", ""))

    def open(self, url):
        failed = self.request("Page.navigate", {"url": url}).get("errorText")
        if failed:
            raise PageError(f"{url}: {failed}")
        self.wait_until("document.readyState === 'complete'")

    def value(self, expression):
        reply = self.request("Runtime.evaluate",
                             {"expression": expression, "returnByValue": True})
        if "exceptionDetails" in reply:
            raise PageError(f"{expression}: {reply['exceptionDetails']['text']}")
        return reply["result"].get("value")

    def wait_until(self, expression, seconds=120):
        """The value of the expression as soon as it is true."""
        limit = time.monotonic() + seconds
        while True:
            value = self.value(expression)
            if value:
                return value
            if time.monotonic() > limit:
                raise PageError("never true: " + expression)
            time.sleep(0.05)
