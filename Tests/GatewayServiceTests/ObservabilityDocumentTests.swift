import Foundation
import Testing
import TomboloMetrics

/// The operators' guide, the dashboard and the alerts name only metrics that exist.
@Suite struct ObservabilityDocumentTests {
    private static func text(_ path: String) throws -> String {
        try String(contentsOf: Observability.root.appending(path: path), encoding: .utf8)
    }

    /// The metric's line in the guide's table.
    private static func line(_ definition: MetricDefinition) -> String {
        let labels = definition.labels.map { "`\($0)`" }.joined(separator: ", ")
        return "| `\(definition.name)` | \(definition.kind.name) | \(labels) | \(definition.help) |"
    }

    @Test("the guide has every metric with its kind, its labels and its meaning, and no other")
    func guide() throws {
        let found = try Self.text("docs/observability.md").split(separator: "\n").map(String.init).filter {
            $0.hasPrefix("| `tombolo_") || $0.hasPrefix("| `process_")
        }
        let expected = Set(Observability.definitions.map(Self.line))
        #expect(expected.count == Observability.definitions.count)
        let missing = expected.subtracting(found)
        #expect(missing.isEmpty, "The guide lacks:\n\(missing.sorted().joined(separator: "\n"))")
        let wrong = Set(found).subtracting(expected)
        #expect(wrong.isEmpty, "Wrong lines in the guide:\n\(wrong.sorted().joined(separator: "\n"))")
    }

    @Test(
        "the dashboard and the alerts name only metrics that exist, and only labels that those have",
        arguments: ["infra/observability/grafana-dashboard.json", "infra/observability/alerts.yml"])
    func queries(_ path: String) throws {
        let text = try Self.text(path)
        var names: [String: MetricDefinition] = [:]
        for definition in Observability.definitions {
            if case .histogram = definition.kind {
                for suffix in ["_bucket", "_sum", "_count"] { names[definition.name + suffix] = definition }
            } else {
                names[definition.name] = definition
            }
        }
        let used = text.matches(of: /\b((?:tombolo|process)_[a-z_]+)(?:\{([^}]*)\})?/).map { ($0.1, $0.2) }
        #expect(used.count > 5)
        for (name, selector) in used {
            guard let definition = names[String(name)] else {
                Issue.record("\(path) names \(name), which isn't a metric.")
                continue
            }
            for label in (selector ?? "").matches(of: /(\w+)\s*(?:=~|!=|!~|=)/).map(\.1) {
                #expect(
                    definition.labels.contains(String(label)) || ["le", "job", "instance"].contains(label),
                    "\(path): \(name) has no label '\(label)'")
            }
        }
    }

    @Test("the dashboard is JSON in which every panel has a query and a unit, and no two panels overlap")
    func dashboard() throws {
        struct Dashboard: Decodable {
            struct Panel: Decodable {
                struct Place: Decodable { let h, w, x, y: Int }
                struct Target: Decodable { let expr: String }
                struct FieldConfig: Decodable {
                    struct Defaults: Decodable { let unit: String }
                    let defaults: Defaults
                }
                let title: String
                let gridPos: Place
                let targets: [Target]
                let fieldConfig: FieldConfig
            }
            let title: String
            let panels: [Panel]
        }
        let data = Data(try Self.text("infra/observability/grafana-dashboard.json").utf8)
        let dashboard = try JSONDecoder().decode(Dashboard.self, from: data)
        #expect(dashboard.panels.count >= 12)
        for (index, panel) in dashboard.panels.enumerated() {
            #expect(!panel.targets.isEmpty && panel.targets.allSatisfy { !$0.expr.isEmpty }, "\(panel.title)")
            #expect(panel.gridPos.x + panel.gridPos.w <= 24, "\(panel.title)")
            for other in dashboard.panels.dropFirst(index + 1) {
                let (a, b) = (panel.gridPos, other.gridPos)
                let isApart = a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y
                #expect(isApart, "\(panel.title) and \(other.title)")
            }
        }
    }
}
