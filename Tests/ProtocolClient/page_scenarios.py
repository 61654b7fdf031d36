"""Checks the examples of docs/protocol.md against the code."""

import random
import re

import rank
from claims import Claims
from device import PROTO
from platform_under_test import ROOT
from protobuf import Format

CLIENT_KINDS = {"hello", "subscribe", "upload", "applied"}
RANK_COUNT = 2_000


class PageScenarios(Claims):
    def test_worked_example(self):
        page = (ROOT / "docs/protocol.md").read_text(encoding="utf-8")
        example = page.split("\n## A worked example\n")[1].split("\n## ")[0]
        wire, kinds = Format(PROTO), []
        for block in re.findall(r"```text\n(.*?)```", example, re.DOTALL):
            lines = [re.match(r" *((?:[0-9a-f]{2} ?)+)(.*)", line) for line in block.splitlines()]
            data = bytes.fromhex(" ".join(line[1] for line in lines))
            kind = lines[0][2].split(":")[0].strip()
            name = "ClientMessage" if kind in CLIENT_KINDS else "ServerMessage"
            message = wire.decode(name, data)
            self.claim(f"the example's {kind} matches what the client encodes", wire.encode(name, message) == data)
            kinds += message
        steps = ["hello", "welcome", "end", "applied", "upload", "frame", "end"]
        self.claim("the example contains every step", kinds == steps)
        limits = page.split("\n## Limits\n")[1].split("\n## ")[0]
        code = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "Packages").rglob("*.swift"))
        bounds = re.findall(r"`(?:[A-Z]\w+\.)?([a-z]\w+)`", limits.replace("`hello`, `subscribe`, `applied`", ""))
        missing = [name for name in bounds if not re.search(rf"\b(?:let|var) {name}\b", code)]
        self.claim(f"the limits that the page names exist in the code {missing}", len(bounds) > 40 and not missing)

    def test_ranks(self):
        examples = [(None, None, "a0"), ("a5", None, "a6"), ("a5V", None, "a6"), ("az", None, "b00")]
        examples += [(None, "a0", "Zz"), (None, "Z0", "Yzz"), ("a0", "a2", "a1"), ("a0", "a1", "a0V")]
        examples += [("a0", "a0V", "a0F"), ("a0", "a0", None), ("a-", None, None)]
        wrong = [example for example in examples if rank.between(*example[:2]) != example[2]]
        self.claim(f"ranks match the page {wrong}", not wrong)
        generator, ranks = random.Random(1), []
        for _ in range(RANK_COUNT):
            place = generator.randint(0, len(ranks))
            ranks.insert(place, rank.between(*([None, *ranks, None][place : place + 2])))
        self.claim("there is room between any two ranks", ranks == sorted(set(ranks)) and len(ranks) == RANK_COUNT)
