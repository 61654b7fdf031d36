internal import Foundation

/// How a connection waits for another one's lock. SQLite's own way soon looks ten times a second only. A process that writes
/// again and again lets go of the lock just for moments, in which others would hardly ever look.
final class LockPatience {
    /// How long to wait altogether, in microseconds.
    var limit = 0
    private var waited = 0

    /// In microseconds. Of random length, so that those who wait don't look at the same moments.
    private static let pauses: ClosedRange<UInt32> = 500...3_000

    /// - Parameter attempts: how often it was waited for this lock.
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
