/// A metric as operators see it. Its name, unit and meaning are defined only here.
///
/// Names follow Prometheus's conventions: base units at the end of the name (`_seconds`, `_bytes`), and `_total` for
/// counters.
public struct MetricDefinition: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// Only increases until the process ends.
        case counter
        /// May go up and down.
        case gauge
        /// Counts observations by the smallest upper bound that includes them. The last bound, infinity, is implied.
        case histogram(bounds: [Double])

        /// The name of the kind in a `TYPE` line.
        public var name: String {
            switch self {
            case .counter: "counter"
            case .gauge: "gauge"
            case .histogram: "histogram"
            }
        }
    }

    public let name: String
    public let kind: Kind
    /// What the metric means, as a sentence.
    public let help: String
    /// The names of its labels, in the order of the values in ``MetricSample``.
    public let labels: [String]

    public init(_ name: String, _ kind: Kind, labels: [String] = [], _ help: String) {
        self.name = name
        self.kind = kind
        self.labels = labels
        self.help = help
    }
}

extension MetricDefinition.Kind {
    /// For durations from a millisecond to minutes: upper bounds in seconds.
    public static let seconds = Self.histogram(
        bounds: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60])
    /// For durations from ten microseconds to a second: upper bounds in seconds.
    public static let shortSeconds = Self.histogram(
        bounds: [0.000_01, 0.000_05, 0.000_1, 0.000_5, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1])
    /// For group sizes of up to a hundred.
    public static let counts = Self.histogram(bounds: [1, 2, 5, 10, 20, 50, 100])
    /// For numbers of any size.
    public static let largeCounts = Self.histogram(
        bounds: [0, 1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000])
}
