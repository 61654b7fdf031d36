import ChildPrograms
import Foundation

/// Metrics as parsed by Prometheus's own Python library.
public struct ParsedMetrics: Sendable {
    public struct Family: Decodable, Sendable {
        public struct Sample: Decodable, Sendable {
            public let name: String
            public let labels: [String: String]
            /// As printed by Python: `3.0`, `inf`, `nan`.
            public let value: String
        }

        public let name: String
        public let type: String
        public let help: String
        public let samples: [Sample]
    }

    public struct NotInTheFormat: Error, CustomStringConvertible {
        public let description: String
    }

    public let families: [Family]

    /// - Throws: ``NotInTheFormat`` with the library's message if it can't parse the text.
    public init(_ text: String) async throws {
        let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "scripts/parse-exposition.py")
        let outcome = try await ProgramRun(script, input: text).outcome()
        guard outcome.status == 0 else {
            throw NotInTheFormat(description: "\(outcome.messages.suffix(1_000))\n\(text)")
        }
        let decoder = JSONDecoder()
        families = try outcome.lines.map { try decoder.decode(Family.self, from: Data($0.utf8)) }
    }

    /// The value of the sample with exactly these labels, or nil if there is none.
    public func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
        for family in families {
            for sample in family.samples where sample.name == name && sample.labels == labels {
                return Double(sample.value)
            }
        }
        return nil
    }

    /// The names of the metrics as written: the library drops `_total`.
    public var names: Set<String> { Set(families.map { $0.type == "counter" ? "\($0.name)_total" : $0.name }) }
}
