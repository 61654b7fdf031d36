/// What one measurement found.
struct Measurement: Codable, Sendable {
    var name: String
    /// What was done, in words.
    var conditions: String
    var figures: [Figure] = []
    /// The machine's load average over a minute, before and after: other work on the machine makes figures worse.
    var loadBefore: Double = 0
    var loadAfter: Double = 0

    init(_ name: String, conditions: String) {
        self.name = name
        self.conditions = conditions
    }
}
