/// What one measurement found.
struct Measurement: Codable, Sendable {
    var name: String
    /// What was done, in words.
    var conditions: String
    var figures: [Figure] = []
    /// The machine's load average over a minute, before and after: other work on the machine makes figures worse.
    var loadBefore: Double = 0
    var loadAfter: Double = 0

    /// `NAME: ok`, or which figures are not what they have to be; nil where nothing is decided.
    var verdict: String? {
        guard figures.contains(where: { $0.allowed != nil || $0.required != nil || $0.problem != nil }) else {
            return nil
        }
        let short = figures.filter { !$0.isWithinLimits }.map { figure in
            figure.problem.map { "\(figure.name) (\($0))" }
                ?? "\(figure.name) (\(Table.number(figure.median)) \(figure.unit), wanted \(Table.limit(figure)))"
        }
        return short.isEmpty ? "\(name): ok" : "\(name): falls short:\n  " + short.joined(separator: "\n  ")
    }

    init(_ name: String, conditions: String) {
        self.name = name
        self.conditions = conditions
    }
}
