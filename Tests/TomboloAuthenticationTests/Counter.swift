import Synchronization

/// A number that tasks share.
final class Counter: Sendable {
    private let number = Mutex(0)

    var value: Int { number.withLock { $0 } }

    func add() { number.withLock { $0 += 1 } }

    func set(_ value: Int) { number.withLock { $0 = value } }
}
