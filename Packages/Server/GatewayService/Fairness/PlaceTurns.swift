/// Decides the order in which places get their turns while several are waiting: the place that has received the least
/// so far is next. Pure bookkeeping.
///
/// A place's share grows with the square root of its waiting users, up to ``maximumWeight``. A venue thus counts more
/// than one of its guests, but a hundred accounts made by one person count as eight at most. A place that starts
/// waiting when others have long been served starts level with them rather than from zero: it is next, but doesn't
/// catch up on the past.
struct PlaceTurns: Sendable {
    /// The most users that a place can count as. A place reaches it with the square of this number.
    static let maximumWeight = 8

    /// What places have received, divided by their weights. Only places with more than ``floor``.
    private var served: [String: Double] = [:]
    private var floor = 0.0

    /// The number of places that are remembered.
    var count: Int { served.count }

    /// The number of users that a place counts as.
    static func weight(userCount: Int) -> Int {
        var weight = 1
        while weight < maximumWeight, weight * weight < userCount { weight += 1 }
        return weight
    }

    /// The place with the lowest standing is next.
    func standing(of place: String) -> Double { max(served[place] ?? floor, floor) }

    /// Records that a place gets its turn.
    /// - Parameters:
    ///   - cost: the amount of work, in any unit.
    ///   - userCount: how many of its users are waiting, including this one.
    ///   - waiting: all places that could have been next, including this one.
    mutating func serve(_ place: String, cost: Double, userCount: Int, waiting: some Sequence<String>) {
        floor = max(floor, waiting.lazy.map(standing).min() ?? standing(of: place))
        served[place] = standing(of: place) + cost / Double(Self.weight(userCount: userCount))
        if served.count > 1 { served = served.filter { $0.value > floor } }
    }

    /// Call when nobody is waiting any more.
    mutating func reset() { self = PlaceTurns() }
}
