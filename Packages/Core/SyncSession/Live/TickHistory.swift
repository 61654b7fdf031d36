/// In which ticks of a ring a key occurs, by the ticks' places. Ticks are entered when somebody asks, so that those that
/// nobody asks about cost nothing.
struct TickHistory<Key: Hashable & Sendable>: Sendable {
    private struct Occurrence {
        let place: Int
        /// Where the key's occurrence before it is; -1 for the first.
        let before: Int
    }

    /// The newest occurrence of each key.
    private var newest: [Key: Int] = [:]
    private var occurrences: [Occurrence] = []
    /// The places of the ticks that are entered.
    private(set) var places = 0..<0

    /// Enters the ticks of a ring that aren't yet. Begins anew once most of what is entered has left the ring.
    /// - Parameter keys: calls its argument with each key of the tick at a place; repeats do no harm.
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

    /// Appends the places at which a key occurs, from one on.
    func append(_ key: Key, from first: Int, to found: inout [Int]) {
        var next = newest[key] ?? -1
        while next >= 0, occurrences[next].place >= first {
            found.append(occurrences[next].place)
            next = occurrences[next].before
        }
    }
}
