/// Bounds the bytes of all uploads that wait in a gateway: a session takes its device's next upload off the network's
/// hands only when there is room. One user's devices get no more than half, and while others are connected, when
/// ``UploadPace`` holds, a sixteenth: what is admitted is decoded at once, whenever it is applied. In order of arrival; who waits for
/// their own uploads keeps nobody else waiting. One upload is always admitted, however long.
actor UploadBudget {
    private struct Waiting {
        let number: Int
        let user: String
        let byteCount: Int
        let continuation: CheckedContinuation<Void, any Error>
    }

    /// The part of ``maximumByteCount`` that one user's devices get: alone, and while others are connected.
    static let shares = (alone: 2, besideOthers: 16)

    private let maximumByteCount: Int
    private let users: ConnectedUsers
    private(set) var byteCount = 0
    private var byteCountOfUser: [String: Int] = [:]
    /// In order of arrival.
    private var waiting: [Waiting] = []
    private var nextNumber = 0

    var waitingCount: Int { waiting.count }

    init(maximumByteCount: Int, users: ConnectedUsers = ConnectedUsers()) {
        self.maximumByteCount = maximumByteCount
        self.users = users
    }

    /// Waits for room; give it back with ``release(_:of:)``.
    /// - Throws: `CancellationError` when the task is cancelled before there is room.
    func admit(_ wanted: Int, of user: String) async throws {
        try Task.checkCancellation()
        let isBehind = waiting.contains { $0.user == user || hasShare(for: $0.byteCount, of: $0.user) }
        guard isBehind || !hasRoom(for: wanted, of: user) else { return take(wanted, user) }
        let number = nextNumber
        nextNumber += 1
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                waiting.append(Waiting(number: number, user: user, byteCount: wanted, continuation: $0))
            }
        } onCancel: {
            Task { await self.giveUp(number) }
        }
    }

    func release(_ count: Int, of user: String) {
        guard count > 0 else { return }
        byteCount -= count
        let left = (byteCountOfUser[user] ?? 0) - count
        byteCountOfUser[user] = left > 0 ? left : nil
        admitWaiting()
    }

    private func take(_ count: Int, _ user: String) {
        byteCount += count
        byteCountOfUser[user, default: 0] += count
    }

    private func hasShare(for wanted: Int, of user: String) -> Bool {
        let own = byteCountOfUser[user] ?? 0
        let share = users.areSeveral ? Self.shares.besideOthers : Self.shares.alone
        return own == 0 || own + wanted <= maximumByteCount / share
    }

    private func hasRoom(for wanted: Int, of user: String) -> Bool {
        hasShare(for: wanted, of: user) && (byteCount == 0 || byteCount + wanted <= maximumByteCount)
    }

    private func admitWaiting() {
        for next in waiting where hasShare(for: next.byteCount, of: next.user) {
            // Whoever waits for room in all is not overtaken.
            guard hasRoom(for: next.byteCount, of: next.user) else { return }
            take(next.byteCount, next.user)
            waiting.removeAll { $0.number == next.number }
            next.continuation.resume()
        }
    }

    private func giveUp(_ number: Int) {
        guard let index = waiting.firstIndex(where: { $0.number == number }) else { return }
        waiting.remove(at: index).continuation.resume(throwing: CancellationError())
        admitWaiting()
    }
}
