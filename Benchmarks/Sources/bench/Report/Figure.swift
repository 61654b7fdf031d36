/// A measured quantity with all its runs.
struct Figure: Codable, Sendable {
    var name: String
    var unit: String
    var median: Double
    var least: Double
    var greatest: Double
    /// In the order in which they were measured; left out where `median` stands for many samples.
    var runs: [Double]
    /// The most that the median may be, where that is decided.
    var allowed: Double?
    /// The least that the median must be, where that is decided.
    var required: Double?
    /// The machine's load average over a minute, after the last run, where it is noted for each figure.
    var load: Double?
    /// CPU time of what has nothing to do with the measurement, in percent of a core, at the most of all runs.
    var othersCPU: Double?
    /// Why it could not be measured.
    var problem: String?

    /// Whether the median is what it has to be.
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

    /// Many short repetitions: their median, least and greatest.
    init(_ name: String, _ unit: String, samples: [Double]) {
        self.init(name, unit, runs: samples)
        runs = []
    }
}

extension [Double] {
    var median: Double { quantile(0.5) }

    /// The value below which this part of the values lies, by the nearest rank; 0 of none.
    func quantile(_ part: Double) -> Double {
        guard !isEmpty else { return 0 }
        let rank = Int((part * Double(count)).rounded(.up)) - 1
        return sorted()[Swift.min(Swift.max(rank, 0), count - 1)]
    }
}
