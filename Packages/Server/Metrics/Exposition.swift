internal import Foundation

/// Writes metrics in Prometheus's text format, version 0.0.4: each metric's help and type, followed by its series.
/// https://prometheus.io/docs/instrumenting/exposition_formats/
struct Exposition {
    private struct Family {
        let definition: MetricDefinition
        /// Lines with their sort keys.
        var lines: [(key: String, text: String)] = []
    }

    private var families: [String: Family] = [:]

    /// Sorts metrics by name and series by label, so that equal figures produce equal bytes.
    var text: String {
        families.values.sorted { $0.definition.name.utf8.lexicographicallyPrecedes($1.definition.name.utf8) }
            .map { family in
                let definition = family.definition
                let head =
                    "# HELP \(definition.name) \(Self.escapedHelp(definition.help))\n"
                    + "# TYPE \(definition.name) \(definition.kind.name)\n"
                let lines = family.lines.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
                return head + lines.map(\.text).joined()
            }.joined()
    }

    mutating func add(_ sample: MetricSample) {
        let labels = zip(sample.definition.labels, sample.labels).map {
            MetricRegistry.Label(name: Self.labelName($0), value: Self.shortened($1))
        }
        add(sample.definition, labels, "\(sample.definition.name)\(Self.labels(labels)) \(Self.number(sample.value))\n")
    }

    mutating func add(_ definition: MetricDefinition, _ labels: [MetricRegistry.Label], _ series: MetricRegistry.Series)
    {
        let name = definition.name
        switch series {
        case .counter(let counter): add(definition, labels, "\(name)\(Self.labels(labels)) \(counter.value)\n")
        case .gauge(let gauge): add(definition, labels, "\(name)\(Self.labels(labels)) \(Self.number(gauge.value))\n")
        case .histogram(let histogram):
            let counts = histogram.cumulativeCounts
            var text = ""
            for (bound, count) in zip(histogram.bounds + [.infinity], counts) {
                let all = labels + [MetricRegistry.Label(name: "le", value: Self.number(bound))]
                text += "\(name)_bucket\(Self.labels(all)) \(count)\n"
            }
            text += "\(name)_sum\(Self.labels(labels)) \(Self.number(histogram.sum))\n"
            text += "\(name)_count\(Self.labels(labels)) \(counts.last ?? 0)\n"
            add(definition, labels, text)
        }
    }

    private mutating func add(_ definition: MetricDefinition, _ labels: [MetricRegistry.Label], _ text: String) {
        families[definition.name, default: Family(definition: definition)].lines.append((Self.labels(labels), text))
    }

    // MARK: Parts

    private static func labels(_ labels: [MetricRegistry.Label]) -> String {
        guard !labels.isEmpty else { return "" }
        return "{\(labels.map { "\($0.name)=\"\(escaped($0.value))\"" }.joined(separator: ","))}"
    }

    /// Writes whole numbers without a fraction.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return Int64(exactly: value).map(String.init) ?? "\(value)"
    }

    private static func escaped(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("\n", with: "\\n").replacing("\"", with: "\\\"")
    }

    private static func escapedHelp(_ help: String) -> String {
        help.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
    }

    /// `[a-zA-Z_:][a-zA-Z0-9_:]*`; any other character becomes an underscore.
    static func name(_ text: String) -> String { clean(text, allowing: [UInt8(ascii: "_"), UInt8(ascii: ":")]) }

    /// Like a name, but without colons.
    static func labelName(_ text: String) -> String { clean(text, allowing: [UInt8(ascii: "_")]) }

    private static func clean(_ text: String, allowing others: [UInt8]) -> String {
        var bytes = text.utf8.prefix(MetricRegistry.maximumTextByteCount).map { byte in
            isLetter(byte) || isDigit(byte) || others.contains(byte) ? byte : UInt8(ascii: "_")
        }
        if bytes.isEmpty || isDigit(bytes[0]) { bytes.insert(UInt8(ascii: "_"), at: 0) }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    static func shortened(_ text: String) -> String {
        guard text.utf8.count > MetricRegistry.maximumTextByteCount else { return text }
        return String(decoding: text.utf8.prefix(MetricRegistry.maximumTextByteCount), as: UTF8.self)
    }
}
