/// Lets only so many devices bootstrap or catch up at once, in order of arrival: each holds a database connection until
/// its device has taken the batch, and the feed and uploads need theirs.
actor ReadSlots {
    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(count: Int) { free = count }

    /// Waits for a slot; give it back with ``release()``.
    func acquire() async {
        if free > 0 {
            free -= 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    func release() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}
