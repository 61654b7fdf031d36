"""Runs axe-core on pages and keeps what it finds."""

import json

# Violations of these impacts fail a page. The report lists the others.
REFUSED = ("serious", "critical")
STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

RUN = """axe.run(document, {runOnly: {type: "tag", values: %s}, resultTypes: ["violations", "incomplete"]}).then(found => ({
    version: found.testEngine.version,
    rules: found.passes.length + found.violations.length,
    violations: found.violations.map(rule => ({
        rule: rule.id, impact: rule.impact, help: rule.help, about: rule.helpUrl,
        elements: rule.nodes.slice(0, 20).map(node => ({element: node.target.join(" "), html: node.html.slice(0, 300),
            why: node.failureSummary}))}))
}))""" % json.dumps(STANDARDS)


class Accessibility:
    """Findings by page and look."""

    def __init__(self, script):
        with open(script, encoding="utf-8") as source:
            self.script = source.read()
        self.findings = []
        self.pages = 0
        self.version = ""

    def check(self, page, name, look):
        """Describes the violations that fail the page."""
        world = page.isolated_world()
        page.run(self.script + "; true", world)
        found = page.run(RUN, world)
        self.version = found["version"]
        self.pages += 1
        self.findings += [dict(item, page=name, look=look) for item in found["violations"]]
        return [
            f"{item['impact']}: {item['rule']} ({item['help']}) at "
            + "; ".join(element["element"] for element in item["elements"][:3])
            for item in found["violations"] if item["impact"] in REFUSED
        ]

    def write(self, folder):
        """accessibility.json with everything, accessibility.txt for people."""
        with open(f"{folder}/accessibility.json", "w", encoding="utf-8") as output:
            json.dump({"axe": self.version, "looks": self.pages, "findings": self.findings}, output, indent=1)
        counts = {}
        for item in self.findings:
            counts[item["impact"]] = counts.get(item["impact"], 0) + 1
        lines = [f"axe-core {self.version} looked at {self.pages} pages: "
                 + (", ".join(f"{count} {impact}" for impact, count in sorted(counts.items())) or "nothing found") + "."]
        for item in self.findings:
            lines += ["", f"{item['page']} ({item['look']}): {item['impact']}: {item['rule']}: {item['help']}", item["about"]]
            for element in item["elements"]:
                lines += [f"  {element['element']}", f"    {element['html']}"]
        with open(f"{folder}/accessibility.txt", "w", encoding="utf-8") as output:
            output.write("\n".join(lines) + "\n")
        return lines[0]
