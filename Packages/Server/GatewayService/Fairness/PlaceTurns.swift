/// In what order places have their turns while several have something waiting: the one that has had the least so far is next.
/// Pure bookkeeping.
///
/// A place's part grows with the square root of the users who wait there, up to ``maximumWeight``: a venue is more than one
/// of its guests, and a hundred accounts that one person made are at most eight. A place that comes when others have been served for
/// long begins where they are, not at nothing: it is next, but doesn't make up for the past.
struct PlaceTurns: Sendable {
    /// As how many users a place counts at most; from the square of it on.
    static let maximumWeight = 8

    /// What places have had, divided by their weights; of those that have had more than ``floor``.
    private var served: [String: Double] = [:]
    private var floor = 0.0

    /// Places that are remembered.
    var count: Int { served.count }

    /// As how many users a place counts.
    static func weight(userCount: Int) -> Int {
        var weight = 1
        while weight < maximumWeight, weight * weight < userCount { weight += 1 }
        return weight
    }

    /// The least goes first.
    func standing(of place: String) -> Double { max(served[place] ?? floor, floor) }

    /// A place has its turn.
    /// - Parameters:
    ///   - cost: what is done, in any unit.
    ///   - userCount: how many of its users wait, this one among them.
    ///   - waiting: all places that could have been next, this one among them.
    mutating func serve(_ place: String, cost: Double, userCount: Int, waiting: some Sequence<String>) {
        floor = max(floor, waiting.lazy.map(standing).min() ?? standing(of: place))
        served[place] = standing(of: place) + cost / Double(Self.weight(userCount: userCount))
        if served.count > 1 { served = served.filter { $0.value > floor } }
    }

    /// Nobody waits any more.
    mutating func reset() { self = PlaceTurns() }
}
