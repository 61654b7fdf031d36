/// A bounded queue whose turns go round by lane: an element waits behind one of each other lane, not behind all that
/// another lane has. A full queue takes an element of a short lane in place of the newest of the longest.
struct FairQueue<Element: Sendable>: Sendable {
    private struct Entry: Sendable {
        let number: UInt64
        let element: Element
    }

    /// What became of an element that was offered.
    enum Admission {
        case added
        /// This one left the queue for it.
        case addedInPlaceOf(Element)
        case refused
    }

    let maximumCount: Int
    private(set) var count = 0
    /// Oldest first; no lane is empty.
    private var lanes: [String: [Entry]] = [:]
    /// The lanes by their turns, next first.
    private var turns: [String] = []

    init(maximumCount: Int) { self.maximumCount = maximumCount }

    /// - Parameter number: names the element for ``remove(_:from:)``; unique.
    mutating func append(_ element: Element, number: UInt64, to lane: String) -> Admission {
        var evicted: Element?
        if count >= maximumCount {
            // Where no lane would still have as many as this one then, making room would only change who is refused.
            let own = lanes[lane]?.count ?? 0
            guard let longest = turns.max(by: { lanes[$0, default: []].count < lanes[$1, default: []].count }),
                lanes[longest, default: []].count > own + 1, let last = lanes[longest]?.last
            else { return .refused }
            evicted = remove(last.number, from: longest)
        }
        if lanes[lane] == nil { turns.append(lane) }
        lanes[lane, default: []].append(Entry(number: number, element: element))
        count += 1
        return evicted.map { .addedInPlaceOf($0) } ?? .added
    }

    /// The oldest element of the lane whose turn it is.
    mutating func next() -> Element? {
        guard let lane = turns.first, let entry = lanes[lane]?.first else { return nil }
        turns.removeFirst()
        lanes[lane]?.removeFirst()
        count -= 1
        if lanes[lane]?.isEmpty == true { lanes[lane] = nil } else { turns.append(lane) }
        return entry.element
    }

    /// Takes an element out before its turn.
    /// - Returns: nil if it has left the queue already.
    mutating func remove(_ number: UInt64, from lane: String) -> Element? {
        guard let index = lanes[lane]?.firstIndex(where: { $0.number == number }) else { return nil }
        let element = lanes[lane]?.remove(at: index).element
        count -= 1
        if lanes[lane]?.isEmpty == true {
            lanes[lane] = nil
            turns.removeAll { $0 == lane }
        }
        return element
    }
}
