/// Limits how much one user's heavy work takes from everybody else. It's done one piece at a time and, beyond a
/// burst, takes no more than a share of the time. Nothing is refused: a device's long messages and new subscriptions
/// are only delayed.
actor UserPace {
    typealias Instant = ContinuousClock.Instant

    /// Once ``burst`` is used up, a user whose work took a second can start the next piece this many seconds after it
    /// ended.
    static let costFactor = 4
    /// What a user's work may cost before the next piece waits, with ``costFactor`` applied.
    static let burst = Duration.seconds(4)
    /// The longest that a user's next piece waits for previous ones.
    static let maximumDebt = Duration.seconds(30)

    private struct Lane {
        var isBusy = true
        /// In order of arrival.
        var waiting: [(number: Int, continuation: CheckedContinuation<Void, any Error>)] = []
        /// When the work done so far has been paid for.
        var paidAt: Instant
    }

    /// One for each user who has work or still something to pay for. Bounded by the connections, except for a moment.
    private var lanes: [String: Lane] = [:]
    private var nextNumber = 0

    /// The number of users that are remembered.
    var laneCount: Int { lanes.count }

    /// Waits for the user's turn, and does a piece of work.
    /// - Parameter work: returns its result, and how much time it took of what others need too.
    /// - Throws: `CancellationError` if the task is cancelled before the work started.
    func run<Result: Sendable>(
        _ user: String, _ work: @Sendable () async -> (Result, took: Duration)
    ) async throws -> Result {
        try await enter(user)
        let (result, took) = await work()
        leave(user, took: took)
        return result
    }

    private func enter(_ user: String) async throws {
        try Task.checkCancellation()
        let now = Instant.now
        if lanes[user] == nil {
            forgetPaid(now)
            lanes[user] = Lane(paidAt: now)
        } else if lanes[user]?.isBusy == true {
            try await wait(user)
        } else {
            lanes[user]?.isBusy = true
        }
        // From here on, it is this piece's turn.
        do {
            if let paidAt = lanes[user]?.paidAt, paidAt - Self.burst > .now {
                try await Task.sleep(until: paidAt - Self.burst, clock: .continuous)
            }
            try Task.checkCancellation()
        } catch {
            leave(user, took: .zero)
            throw error
        }
    }

    private func wait(_ user: String) async throws {
        let number = nextNumber
        nextNumber += 1
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                guard !Task.isCancelled else { return continuation.resume(throwing: CancellationError()) }
                lanes[user]?.waiting.append((number, continuation))
            }
        } onCancel: {
            Task { await self.giveUp(number, user) }
        }
    }

    private func giveUp(_ number: Int, _ user: String) {
        guard let index = lanes[user]?.waiting.firstIndex(where: { $0.number == number }) else { return }
        lanes[user]?.waiting.remove(at: index).continuation.resume(throwing: CancellationError())
    }

    private func leave(_ user: String, took: Duration) {
        guard var lane = lanes[user] else { return }
        let now = Instant.now
        lane.paidAt = min(max(lane.paidAt, now) + took * Self.costFactor, now + Self.burst + Self.maximumDebt)
        if lane.waiting.isEmpty {
            lane.isBusy = false
            lanes[user] = lane
        } else {
            let next = lane.waiting.removeFirst()
            lanes[user] = lane
            next.continuation.resume()
        }
    }

    private func forgetPaid(_ now: Instant) {
        lanes = lanes.filter { $0.value.isBusy || $0.value.paidAt > now }
    }
}
