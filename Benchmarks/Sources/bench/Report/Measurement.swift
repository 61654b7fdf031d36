/// The results of one measurement.
struct Measurement: Codable, Sendable {
    var name: String
    /// A description of what was done.
    var conditions: String
    var figures: [Figure] = []
    /// The machine's load average over a minute, before and after. Other work on the machine makes figures worse.
    var loadBefore: Double = 0
    var loadAfter: Double = 0

    /// A figure is unreliable if unrelated processes used more than this, in percent of a core.
    static let bearableOthersCPU = 20.0

    /// `NAME: ok`, or the figures outside their limits; nil if there are no limits. Begins with the number of
    /// unreliable figures.
    var verdict: String? {
        guard figures.contains(where: { $0.allowed != nil || $0.required != nil || $0.problem != nil }) else {
            return nil
        }
        let short = figures.filter { !$0.isWithinLimits }.map { figure in
            figure.problem.map { "\(figure.name) (\($0))" }
                ?? "\(figure.name) (\(Table.number(figure.median)) \(figure.unit), wanted \(Table.limit(figure)))"
        }
        let disturbed = figures.count { $0.othersCPU ?? 0 > Self.bearableOthersCPU }
        let warning =
            disturbed == 0
            ? ""
            : "\(disturbed) of \(figures.count) figures are unreliable: other work used more than "
                + "\(Table.number(Self.bearableOthersCPU)) % of a core.\n"
        return warning
            + (short.isEmpty ? "\(name): ok" : "\(name): falls short:\n  " + short.joined(separator: "\n  "))
    }

    init(_ name: String, conditions: String) {
        self.name = name
        self.conditions = conditions
    }
}
