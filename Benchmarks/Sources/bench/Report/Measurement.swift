/// What one measurement found.
struct Measurement: Codable, Sendable {
    var name: String
    /// What was done, in words.
    var conditions: String
    var figures: [Figure] = []
    /// The machine's load average over a minute, before and after: other work on the machine makes figures worse.
    var loadBefore: Double = 0
    var loadAfter: Double = 0

    /// More than this of a core, in percent, used by what has nothing to do with a figure makes it unreliable.
    static let bearableOthersCPU = 20.0

    /// `NAME: ok`, or which figures are not what they have to be; nil where nothing is decided. Says before how many
    /// figures are unreliable.
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
