"""Checks claims about devices that should agree, one scenario at a time."""

import traceback

from homes import CLASSES, EVERYTHING
from platform_under_test import Failed, wait_until


class Claims:
    def __init__(self, platform):
        self.platform = platform
        self.passed, self.failed = 0, 0

    def claim(self, text, holds):
        if not holds:
            raise Failed(text)
        self.passed += 1
        print(f"ok    {text}", flush=True)

    def becomes(self, text, condition):
        """A claim that must eventually hold."""
        answer = wait_until(text, condition)
        self.claim(text, answer)
        return answer

    def run(self, names):
        for name in [name for kind in type(self).__bases__ for name in vars(kind) if name.startswith("test_")]:
            if names and name.removeprefix("test_") not in names:
                continue
            try:
                getattr(self, name)()
            except Exception as error:
                self.failed += 1
                print(f"FAIL  {name.removeprefix('test_')}: {error}", flush=True)
                if not isinstance(error, Failed):
                    traceback.print_exc()
            for device in self.platform.devices:
                device.kill()
            self.platform.devices.clear()
        print(f"{self.passed} passed, {self.failed} failed", flush=True)

    # Devices

    def pair(self, name, queries=None):
        """Two devices with the same subscriptions, live."""
        devices = [self.platform.device(f"{name}-{letter}", CLASSES) for letter in "ab"]
        for device in devices:
            device.ask("subscribe", queries or EVERYTHING)
            device.connect()
        return devices

    def agree(self, text, devices, classes=tuple(CLASSES)):
        """All devices end up with the same rows, and have nothing left to upload."""

        def same():
            contents = [[device.ask("rows", name) for name in classes] for device in devices]
            return all(content == contents[0] for content in contents)

        for device in devices:
            device.wait_uploaded()
        self.becomes(text, same)

    @staticmethod
    def listing(device, **fields):
        return device.ask("write", ["create", "Listing", {"location": "here", **fields}])[0]
