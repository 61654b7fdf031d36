/// How attempts at one account are slowed down. The first ``freeAttempts`` go on at once. After that, each attempt must
/// wait twice as long as the one before, up to ``maximumDelaySeconds``. A success resets everything.
struct BackoffSchedule: Sendable {
    let freeAttempts: Int
    let maximumDelaySeconds: Double
    /// An account is forgotten after this long without attempts.
    let memorySeconds: Double

    /// For wrong codes of a second factor.
    static let codes = BackoffSchedule(
        freeAttempts: SecondFactor.maximumFailures, maximumDelaySeconds: SecondFactor.maximumDelaySeconds,
        memorySeconds: SecondFactor.memorySeconds)
    /// For wrong passwords.
    static let logins = BackoffSchedule(
        freeAttempts: Authenticator.maximumFailedLoginsOfAccount,
        maximumDelaySeconds: Authenticator.maximumAccountDelaySeconds,
        memorySeconds: Authenticator.accountMemorySeconds)

    /// 0 for the free attempts, then 1, 2, 4 … seconds.
    func delay(after attempts: Int) -> Double {
        guard attempts >= freeAttempts else { return 0 }
        var delay = 1.0
        for _ in freeAttempts..<attempts where delay < maximumDelaySeconds { delay *= 2 }
        return min(delay, maximumDelaySeconds)
    }

    /// The seconds that the next attempt must wait; nil if it may go on.
    /// - Parameter age: how long ago the last attempt was, in seconds.
    func wait(after attempts: Int, age: Double) -> Int? {
        let left = delay(after: attempts) - max(0, age)
        return left > 0 ? Int(left.rounded(.up)) : nil
    }
}
