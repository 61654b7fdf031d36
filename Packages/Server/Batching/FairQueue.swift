internal import DequeModule

/// A bounded queue whose turns go round by lane: an element waits behind one of each other lane, not behind all that
/// another lane has. A full queue takes an element of a short lane in place of the newest of the longest.
package struct FairQueue<Element: Sendable>: Sendable {
    private struct Entry: Sendable {
        let number: UInt64
        let element: Element
    }

    /// What became of an element that was offered.
    package enum Admission {
        case added
        /// This one left the queue for it.
        case addedInPlaceOf(Element)
        case refused
    }

    package let maximumCount: Int
    package private(set) var count = 0
    /// Oldest first. A lane that ran empty stays until its turn comes.
    private var lanes: [String: Deque<Entry>] = [:]
    /// The lanes by their turns, next first.
    private var turns: Deque<String> = []

    package init(maximumCount: Int) { self.maximumCount = maximumCount }

    /// - Parameter number: names the element for ``remove(_:from:)``, and orders its lane.
    package mutating func append(_ element: Element, number: UInt64, to lane: String) -> Admission {
        var evicted: Element?
        if count >= maximumCount {
            // Where no lane would still have as many as this one then, making room would only change who is refused.
            let own = lanes[lane]?.count ?? 0
            guard let longest = lanes.max(by: { $0.value.count < $1.value.count }), longest.value.count > own + 1,
                let last = longest.value.last
            else { return .refused }
            evicted = remove(last.number, from: longest.key)
        }
        if lanes[lane] == nil { turns.append(lane) }
        // One that was numbered before another may come after it.
        var index = lanes[lane]?.endIndex ?? 0
        while index > 0, let before = lanes[lane]?[index - 1].number, before > number { index -= 1 }
        lanes[lane, default: []].insert(Entry(number: number, element: element), at: index)
        count += 1
        return evicted.map { .addedInPlaceOf($0) } ?? .added
    }

    /// The oldest element of the lane whose turn it is.
    package mutating func next() -> Element? {
        while let lane = turns.popFirst() {
            guard let entry = lanes[lane]?.popFirst() else {
                lanes[lane] = nil
                continue
            }
            count -= 1
            if lanes[lane]?.isEmpty == true { lanes[lane] = nil } else { turns.append(lane) }
            return entry.element
        }
        return nil
    }

    /// Takes an element out before its turn.
    /// - Returns: nil if it has left the queue already.
    package mutating func remove(_ number: UInt64, from lane: String) -> Element? {
        guard let entries = lanes[lane] else { return nil }
        // Numbers ascend.
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].number < number { low = middle + 1 } else { high = middle }
        }
        guard low < entries.count, entries[low].number == number else { return nil }
        count -= 1
        return lanes[lane]?.remove(at: low).element
    }
}
