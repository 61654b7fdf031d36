/// Bounds the bytes of all uploads that wait in a gateway: a session takes its device's next upload off the network's
/// hands only when there is room, in order of arrival. One upload is always admitted, however long.
actor UploadBudget {
    private let maximumByteCount: Int
    private(set) var byteCount = 0
    private var waiting: [(number: Int, byteCount: Int, continuation: CheckedContinuation<Void, any Error>)] = []
    private var nextNumber = 0

    var waitingCount: Int { waiting.count }

    init(maximumByteCount: Int) { self.maximumByteCount = maximumByteCount }

    /// Waits for room; give it back with ``release(_:)``.
    /// - Throws: `CancellationError` when the task is cancelled before there is room.
    func admit(_ wanted: Int) async throws {
        try Task.checkCancellation()
        guard !waiting.isEmpty || !hasRoom(for: wanted) else {
            byteCount += wanted
            return
        }
        let number = nextNumber
        nextNumber += 1
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiting.append((number, wanted, $0)) }
        } onCancel: {
            Task { await self.giveUp(number) }
        }
    }

    func release(_ count: Int) {
        byteCount -= count
        admitWaiting()
    }

    private func hasRoom(for wanted: Int) -> Bool { byteCount == 0 || byteCount + wanted <= maximumByteCount }

    private func admitWaiting() {
        while let next = waiting.first, hasRoom(for: next.byteCount) {
            byteCount += next.byteCount
            waiting.removeFirst().continuation.resume()
        }
    }

    private func giveUp(_ number: Int) {
        guard let index = waiting.firstIndex(where: { $0.number == number }) else { return }
        waiting.remove(at: index).continuation.resume(throwing: CancellationError())
        admitWaiting()
    }
}
