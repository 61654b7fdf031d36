/// Lets only so many devices bootstrap or catch up at once, in order of arrival: each holds a database connection until
/// its device has taken the batch, and the feed and uploads need theirs.
actor ReadSlots {
    private var free: Int
    private var waiting: [(number: Int, continuation: CheckedContinuation<Void, any Error>)] = []
    private var nextNumber = 0

    init(count: Int) { free = count }

    /// Waits for a slot; give it back with ``release()``.
    /// - Throws: `CancellationError` when the task is cancelled before it has one.
    func acquire() async throws {
        try Task.checkCancellation()
        guard free == 0 else {
            free -= 1
            return
        }
        let number = nextNumber
        nextNumber += 1
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiting.append((number, $0)) }
        } onCancel: {
            Task { await self.giveUp(number) }
        }
    }

    func release() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().continuation.resume() }
    }

    private func giveUp(_ number: Int) {
        guard let index = waiting.firstIndex(where: { $0.number == number }) else { return }
        waiting.remove(at: index).continuation.resume(throwing: CancellationError())
    }
}
