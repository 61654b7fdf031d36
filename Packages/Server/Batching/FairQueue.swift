internal import DequeModule

/// A bounded queue with round-robin turns by lane: an element waits behind one element of each other lane, not behind
/// everything that another lane has. When the queue is full, an element of a short lane replaces the newest one of
/// the longest lane.
package struct FairQueue<Element: Sendable>: Sendable {
    private struct Entry: Sendable {
        let number: UInt64
        let element: Element
    }

    /// What happened to an offered element.
    package enum Admission {
        case added
        /// The given element left the queue to make room.
        case addedInPlaceOf(Element)
        case refused
    }

    package let maximumCount: Int
    package private(set) var count = 0
    /// Oldest first. An empty lane stays until its turn comes.
    private var lanes: [String: Deque<Entry>] = [:]
    /// The lanes in order of their turns, next first.
    private var turns: Deque<String> = []

    package init(maximumCount: Int) { self.maximumCount = maximumCount }

    /// - Parameter number: identifies the element for ``remove(_:from:)``, and determines its position in the lane.
    package mutating func append(_ element: Element, number: UInt64, to lane: String) -> Admission {
        var evicted: Element?
        if count >= maximumCount {
            // If no lane would then still have more elements than this one, making room would only change who is
            // refused.
            let own = lanes[lane]?.count ?? 0
            guard let longest = lanes.max(by: { $0.value.count < $1.value.count }), longest.value.count > own + 1,
                let last = longest.value.last
            else { return .refused }
            evicted = remove(last.number, from: longest.key)
        }
        if lanes[lane] == nil { turns.append(lane) }
        // An element may arrive after one with a higher number.
        var index = lanes[lane]?.endIndex ?? 0
        while index > 0, let before = lanes[lane]?[index - 1].number, before > number { index -= 1 }
        lanes[lane, default: []].insert(Entry(number: number, element: element), at: index)
        count += 1
        return evicted.map { .addedInPlaceOf($0) } ?? .added
    }

    /// Removes the oldest element of the lane whose turn it is.
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

    /// Removes an element before its turn.
    /// - Returns: nil if it has already left the queue.
    package mutating func remove(_ number: UInt64, from lane: String) -> Element? {
        guard let entries = lanes[lane] else { return nil }
        // Binary search: numbers ascend.
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
