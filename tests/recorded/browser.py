# SPDX-License-Identifier: Apache-2.0
"""Controls pages in headless Chromium over the pipe of its debugging protocol; no library is needed."""
import atexit
import contextlib
import functools
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser")


@functools.lru_cache(None)
def running(dark):
    """Returns the Chromium of this test, which starts with the first page: a start takes seconds."""
    return Process(dark)


class Process:
    def __init__(self, dark):
        self.folder = tempfile.TemporaryDirectory()
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()

        def place():  # Chromium reads descriptor 3 and writes descriptor 4
            high = [os.dup(theirs_in), os.dup(theirs_out)]
            high = [fd if fd > 4 else os.dup(fd) for fd in high]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        command = [PROGRAM, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                   "--no-first-run", f"--user-data-dir={self.folder.name}", "--remote-debugging-pipe"]
        if dark:
            command.append("--blink-settings=preferredColorScheme=0")
        self.child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL, close_fds=False, preexec_fn=place,
                                      start_new_session=True)
        os.close(theirs_in)
        os.close(theirs_out)
        self.to, self.come = ours_out, ours_in
        self.text = b""
        self.number = 0
        atexit.register(self.close)

    def message(self, patience):
        end = time.monotonic() + patience
        while b"\0" not in self.text:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.come], [], [], left)[0]:
                raise TimeoutError("Chromium says nothing")
            more = os.read(self.come, 1 << 16)
            if not more:
                raise EOFError("Chromium is gone")
            self.text += more
        one, self.text = self.text.split(b"\0", 1)
        return json.loads(one)

    def ask(self, session, method, params):
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if session:
            request["sessionId"] = session
        os.write(self.to, json.dumps(request).encode() + b"\0")
        while True:
            answer = self.message(300)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(answer["error"])
                return answer["result"]

    def close(self):
        os.killpg(self.child.pid, signal.SIGKILL)
        self.child.wait()
        os.close(self.to)
        os.close(self.come)
        for _ in range(100):
            with contextlib.suppress(OSError):  # a child process that still exists
                self.folder.cleanup()
                break
            time.sleep(0.3)


class Browser:
    """A window that shares nothing with those before it but the process."""

    def __init__(self, width=1280, height=1000, dark=False):
        self.process, self.session = running(dark), None
        self.context = self.ask("Target.createBrowserContext")["browserContextId"]
        target = self.ask("Target.createTarget", url="about:blank", browserContextId=self.context)["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.ask("Page.enable")
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                 mobile=False)

    def ask(self, method, **params):
        return self.process.ask(self.session, method, params)

    def open(self, url):
        self.ask("Page.navigate", url=url)
        self.wait('location.href !== "about:blank" && document.readyState === "complete"')

    def value(self, script):
        """Returns the value of a script, and of a promise its result."""
        result = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"])
        return result["result"].get("value")

    def wait(self, script, patience=300):
        """Waits until the value of a script is true, and returns it."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            value = self.value(script)
            if value:
                return value
            time.sleep(0.03)
        return None

    def close(self):
        self.session = None
        self.ask("Target.disposeBrowserContext", browserContextId=self.context)
