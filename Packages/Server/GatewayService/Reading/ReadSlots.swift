/// Limits how many devices bootstrap or catch up at once: each holds a database connection until its device has taken
/// the batch, and the feed and uploads need connections too. ``ReadSlotTable`` decides who is next and who has to
/// give way.
actor ReadSlots {
    /// How many times within ``ReadSlotTable/patience`` to check the holders while others wait.
    static let checks = 4

    private struct Holder {
        let progress: @Sendable () async -> ReadProgress
        /// Stops the read. Nil until it has started.
        var giveUp: (@Sendable () -> Void)?
        var isRevoked = false
    }

    private var table: ReadSlotTable
    private let users: ConnectedUsers
    private var holders: [Int: Holder] = [:]
    private var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
    private var nextID = 0
    private var isWatching = false

    /// - Parameter users: the connected users.
    init(count: Int, users: ConnectedUsers = ConnectedUsers()) {
        table = ReadSlotTable(count: count)
        self.users = users
    }

    var waitingCount: Int { table.waitingCount }
    var usedCount: Int { table.usedCount }

    /// Waits for a slot and reads. The read's task is cancelled when the caller's task is, and when another read
    /// needs the slot because the device takes nothing.
    /// - Parameters:
    ///   - peer: who the read is for.
    ///   - progress: returns the read's progress; called while others wait.
    /// - Throws: `CancellationError` if the task is cancelled before it has a slot.
    func run<Result: Sendable>(
        _ peer: Peer, progress: @escaping @Sendable () async -> ReadProgress,
        _ read: @escaping @Sendable () async -> Result
    ) async throws -> Result {
        let id = nextID
        nextID += 1
        holders[id] = Holder(progress: progress)
        do {
            try await acquire(id, peer)
        } catch {
            leave(id)
            throw error
        }
        let task = Task { await read() }
        holders[id]?.giveUp = { task.cancel() }
        if holders[id]?.isRevoked == true { task.cancel() }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        leave(id)
        return result
    }

    private func acquire(_ id: Int, _ peer: Peer) async throws {
        try Task.checkCancellation()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                waiting[id] = continuation
                table.placesAreSeveral = users.placesAreSeveral
                resume(table.request(id, peer, at: .now))
                watch()
            }
        } onCancel: {
            Task { await self.stopWaiting(id) }
        }
    }

    private func stopWaiting(_ id: Int) {
        waiting.removeValue(forKey: id)?.resume(throwing: CancellationError())
    }

    private func leave(_ id: Int) {
        holders[id] = nil
        table.placesAreSeveral = users.placesAreSeveral
        resume(table.leave(id, at: .now))
    }

    private func resume(_ granted: [Int]) {
        for id in granted { waiting.removeValue(forKey: id)?.resume() }
    }

    /// Checks the holders for as long as any read waits.
    private func watch() {
        guard !isWatching, table.hasWaiting else { return }
        isWatching = true
        Task {
            while table.hasWaiting {
                try? await Task.sleep(for: ReadSlotTable.patience / Self.checks)
                await check()
            }
            isWatching = false
        }
    }

    private func check() async {
        for (id, holder) in holders where waiting[id] == nil {
            table.note(await holder.progress(), of: id, at: .now)
        }
        for id in table.revocations(at: .now) {
            holders[id]?.isRevoked = true
            holders[id]?.giveUp?()
        }
    }
}
