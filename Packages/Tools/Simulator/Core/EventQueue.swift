/// Events by virtual time, and at the same time in the order they were scheduled.
struct EventQueue<Event> {
    /// Time and order in one number, so that the heap only moves integers.
    private var heap: [Int] = []
    /// The events by order; nil once taken.
    private var events: [Event?] = []
    private static var orderBits: Int { 24 }

    mutating func schedule(_ event: Event, at time: Int) {
        let key = time << Self.orderBits | events.count
        events.append(event)
        heap.append(key)
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard key < heap[parent] else { break }
            heap[child] = heap[parent]
            child = parent
        }
        heap[child] = key
    }

    mutating func next() -> (time: Int, event: Event)? {
        guard let first = heap.first else { return nil }
        let last = heap.removeLast()
        if !heap.isEmpty {
            var parent = 0
            while true {
                var child = parent * 2 + 1
                guard child < heap.count else { break }
                if child + 1 < heap.count, heap[child + 1] < heap[child] { child += 1 }
                guard heap[child] < last else { break }
                heap[parent] = heap[child]
                parent = child
            }
            heap[parent] = last
        }
        let order = first & (1 << Self.orderBits - 1)
        guard let event = events[order] else { return nil }
        events[order] = nil
        return (first >> Self.orderBits, event)
    }
}
