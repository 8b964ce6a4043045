#!/usr/bin/env python3
"""`heatsoak serve` in headless Chromium: pictures of every page at three widths, what the browser complains about, and
whether a live page moves.

Usage: serve_in_a_browser.py HEATSOAK RUNS OUT
RUNS is a folder of runs; a run of one minute is started in it, on a file of 256 MiB in OUT. Needs Chromium (Debian:
chromium). The browser is driven by its debugging protocol over a pipe: no port, no driver.
"""

import base64
import json
import os
import pathlib
import subprocess
import sys
import time
import urllib.request

WIDTHS = [(1280, 800), (820, 900), (390, 844)]


class Browser:
    def __init__(self, home):
        flags = "--headless --no-sandbox --disable-gpu --hide-scrollbars --remote-debugging-pipe"
        # The protocol is spoken over file descriptors 3 and 4.
        command = f"exec chromium {flags} --user-data-dir='{home}' about:blank 3<&0 4>&1 </dev/null >/dev/null 2>&1"
        self.process = subprocess.Popen(["sh", "-c", command], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.number, self.buffer, self.events, self.session = 0, b"", [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log"]:
            self.call(f"{domain}.enable")

    def message(self):
        while b"\0" not in self.buffer:
            self.buffer += os.read(self.process.stdout.fileno(), 1 << 16)
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        self.process.stdin.write(json.dumps(request).encode() + b"\0")
        self.process.stdin.flush()
        while (answer := self.message()).get("id") != self.number:
            self.events.append(answer)
        return answer["result"]

    def open(self, url, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
        self.events = []
        self.call("Page.navigate", url=url)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.message())

    def value(self, expression):
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def picture(self, path):
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def complaints(self):
        wanted = ("Log.entryAdded", "Runtime.exceptionThrown")
        return [event["params"] for event in self.events if event.get("method") in wanted]


def main(heatsoak, runs, out):
    runs, out = pathlib.Path(runs), pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    address = f"file:{out.resolve() / 'load.bin'}?size=256MiB"
    live = runs / f"live-{int(time.time())}"
    run = subprocess.Popen([heatsoak, "run", "quick", "--drive", address, "--out", live, "-q"], stdout=subprocess.DEVNULL)
    command = [heatsoak, "serve", runs, "--listen", "127.0.0.1:0", "--json"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    url = json.loads(server.stdout.readline())["url"]
    browser = Browser(out / "profile")
    try:
        while not (live / "io.arrow").exists():
            time.sleep(0.1)
        time.sleep(5)
        listed = json.load(urllib.request.urlopen(url + "runs.json"))["runs"]
        done = [one["id"] for one in listed if one["state"] == "done"]
        mine = next(one["id"] for one in listed if one["folder"] == live.name)
        pages = {"library": "", "report": f"run/{done[0]}/report", "compare": f"compare?run={done[0]}&run={done[1]}"}
        for width, height in WIDTHS:
            for name, path in pages.items():
                browser.open(url + path, width, height)
                browser.picture(out / f"{name}-{width}.png")
                wide = browser.value("document.documentElement.scrollWidth")
                print(name, width, "fits" if wide <= width else f"is {wide} wide", browser.complaints())
            browser.open(f"{url}run/{mine}/live", width, height)
            points = "heatsoakPlots[0].data[0].length"
            before = browser.value(points)
            time.sleep(3.5)
            after, events = browser.value(points), browser.value("document.getElementById('drives').dataset.seen")
            browser.picture(out / f"live-{width}.png")
            print(f"live {width}: {before} points became {after} in {events} events", browser.complaints())
    finally:
        for process in [browser.process, server, run]:
            process.kill()


if __name__ == "__main__":
    main(*sys.argv[1:])
