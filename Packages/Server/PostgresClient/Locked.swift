import Foundation

/// A value behind a lock. Hold the lock for a few instructions only, never across a system call that may block.
final class Locked<Value>: @unchecked Sendable {
    // `value` is only accessed inside `withLock`, so always under `lock`.
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) {
        self.value = value
    }

    func withLock<R>(_ body: (inout Value) throws -> R) rethrows -> R {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
