/// A queue of distinct elements, any of which can leave before its turn. Every operation takes constant time.
struct LinkedQueue<Element: Hashable> {
    private struct Links {
        var previous: Element?
        var next: Element?
    }

    private var links: [Element: Links] = [:]
    private(set) var first: Element?
    private var last: Element?

    var isEmpty: Bool { first == nil }

    /// Does nothing if the queue already has the element.
    mutating func append(_ element: Element) {
        guard links[element] == nil else { return }
        links[element] = Links(previous: last, next: nil)
        if let last { links[last]?.next = element } else { first = element }
        last = element
    }

    mutating func remove(_ element: Element) {
        guard let own = links.removeValue(forKey: element) else { return }
        if let previous = own.previous { links[previous]?.next = own.next } else { first = own.next }
        if let next = own.next { links[next]?.previous = own.previous } else { last = own.previous }
    }

    /// Does nothing if the queue doesn't have the element.
    mutating func moveToEnd(_ element: Element) {
        guard links[element] != nil else { return }
        remove(element)
        append(element)
    }
}

extension LinkedQueue: Sequence {
    /// From the first to the last.
    func makeIterator() -> AnyIterator<Element> {
        var next = first
        return AnyIterator {
            defer { next = next.flatMap { links[$0]?.next } }
            return next
        }
    }
}
