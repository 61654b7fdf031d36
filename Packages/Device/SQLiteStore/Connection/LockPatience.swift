internal import Foundation

/// How a connection waits for another connection's lock. SQLite's own busy handler soon polls only ten times a second.
/// A process that writes continuously releases the lock only for moments, which such polling would almost always miss.
final class LockPatience {
    /// The maximum total wait, in microseconds.
    var limit = 0
    private var waited = 0

    /// In microseconds. The length is random, so that waiting connections don't poll at the same moments.
    private static let pauses: ClosedRange<UInt32> = 500...3_000

    /// - Parameter attempts: how many times the connection has already waited for this lock.
    /// - Returns: whether to try again.
    func wait(attempts: Int32) -> Bool {
        if attempts == 0 { waited = 0 }
        guard waited < limit else { return false }
        let pause = UInt32.random(in: Self.pauses)
        waited += Int(pause)
        usleep(pause)
        return true
    }
}
