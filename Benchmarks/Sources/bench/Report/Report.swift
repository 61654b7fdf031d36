import Foundation

/// The JSON file.
struct Report: Codable, Sendable {
    /// Raised when the meaning of a field changes.
    var format = 1
    var startedAt = Date()
    /// Whether small sizes were used. The figures are then meaningless.
    var isQuick: Bool
    var machine: Machine
    var measurements: [Measurement] = []

    init(isQuick: Bool, machine: Machine) {
        self.isQuick = isQuick
        self.machine = machine
    }

    func write(to file: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        try encoder.encode(self).write(to: file, options: .atomic)
    }
}
