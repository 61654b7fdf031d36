/// A measured quantity with all its runs.
struct Figure: Codable, Sendable {
    var name: String
    var unit: String
    var median: Double
    var least: Double
    var greatest: Double
    /// In the order of measurement; left out if `median` stands for many samples.
    var runs: [Double]
    /// The upper limit for the median, if there is one.
    var allowed: Double?
    /// The lower limit for the median, if there is one.
    var required: Double?
    /// The machine's load average over a minute after the last run, if it's recorded for each figure.
    var load: Double?
    /// CPU time unrelated to the measurement, in percent of a core; the maximum of all runs.
    var othersCPU: Double?
    /// Why it couldn't be measured.
    var problem: String?

    /// Whether the median is within its limits.
    var isWithinLimits: Bool {
        problem == nil && allowed.map { median <= $0 } != false && required.map { median >= $0 } != false
    }

    init(_ name: String, _ unit: String, runs: [Double]) {
        self.name = name
        self.unit = unit
        self.runs = runs
        median = runs.median
        least = runs.min() ?? 0
        greatest = runs.max() ?? 0
    }

    init(_ name: String, _ unit: String, _ value: Double) { self.init(name, unit, runs: [value]) }

    /// A figure of many short repetitions: their median, minimum and maximum.
    init(_ name: String, _ unit: String, samples: [Double]) {
        self.init(name, unit, runs: samples)
        runs = []
    }
}

extension [Double] {
    var median: Double { quantile(0.5) }

    /// The quantile by the nearest-rank method; 0 if there are no values.
    func quantile(_ part: Double) -> Double {
        guard !isEmpty else { return 0 }
        let rank = Int((part * Double(count)).rounded(.up)) - 1
        return sorted()[Swift.min(Swift.max(rank, 0), count - 1)]
    }
}
