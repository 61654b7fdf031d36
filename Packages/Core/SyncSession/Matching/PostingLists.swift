internal import TomboloModel

/// For each value of one column, the slots that look for it. The lists are linked through one array. A value that only
/// one slot looks for, which is the usual case, therefore needs no allocation of its own.
struct PostingLists: Sendable {
    private struct Posting {
        var slot: Int
        var previous: Int
        var next: Int
    }

    private static let none = -1

    private var firstPostings: [Value: Int] = [:]
    private var postings: [Posting] = []
    private var freePostings: [Int] = []

    var isEmpty: Bool { firstPostings.isEmpty }

    /// - Returns: the slot's place in the value's list, which is needed to remove it.
    mutating func insert(_ value: Value, slot: Int) -> Int {
        let next = firstPostings[value] ?? Self.none
        let posting = Posting(slot: slot, previous: Self.none, next: next)
        let place: Int
        if let free = freePostings.popLast() {
            place = free
            postings[place] = posting
        } else {
            place = postings.count
            postings.append(posting)
        }
        if next != Self.none { postings[next].previous = place }
        firstPostings[value] = place
        return place
    }

    mutating func remove(_ value: Value, _ place: Int) {
        let (previous, next) = (postings[place].previous, postings[place].next)
        if next != Self.none { postings[next].previous = previous }
        if previous != Self.none {
            postings[previous].next = next
        } else {
            firstPostings[value] = next == Self.none ? nil : next
        }
        freePostings.append(place)
    }

    /// Appends the slots that look for a value.
    func append(at value: Value, to slots: inout [Int]) {
        guard var place = firstPostings[value] else { return }
        while place != Self.none {
            slots.append(postings[place].slot)
            place = postings[place].next
        }
    }
}
