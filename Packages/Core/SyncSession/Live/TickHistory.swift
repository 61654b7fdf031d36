/// Finds the ticks of a ring in which a key occurs, by the ticks' places. Ticks are entered only when a lookup needs
/// them, so that ticks that nobody asks about cost nothing.
struct TickHistory<Key: Hashable & Sendable>: Sendable {
    private struct Occurrence {
        let place: Int
        /// The index of the key's previous occurrence, or -1 for the first one.
        let before: Int
    }

    /// The index of each key's newest occurrence.
    private var newest: [Key: Int] = [:]
    private var occurrences: [Occurrence] = []
    /// The places of the ticks that have been entered.
    private(set) var places = 0..<0

    /// Enters the ticks of a ring that haven't been entered yet. Starts from scratch once most of the entered ticks
    /// have left the ring.
    /// - Parameter keys: calls its argument with each key of the tick at a place. Repeated keys do no harm.
    mutating func enter(_ ring: Range<Int>, keys: (_ place: Int, _ body: (Key) -> Void) -> Void) {
        if ring.lowerBound - places.lowerBound > places.count / 2 || places.isEmpty {
            self = TickHistory()
            places = ring.lowerBound..<ring.lowerBound
        }
        for place in places.upperBound..<ring.upperBound {
            keys(place) { key in
                let before = newest[key] ?? -1
                guard before < 0 || occurrences[before].place != place else { return }
                newest[key] = occurrences.count
                occurrences.append(Occurrence(place: place, before: before))
            }
        }
        places = places.lowerBound..<ring.upperBound
    }

    /// Appends the places at which a key occurs, starting at `first`.
    func append(_ key: Key, from first: Int, to found: inout [Int]) {
        var next = newest[key] ?? -1
        while next >= 0, occurrences[next].place >= first {
            found.append(occurrences[next].place)
            next = occurrences[next].before
        }
    }
}
