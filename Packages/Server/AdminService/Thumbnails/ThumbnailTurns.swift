import Synchronization
import TomboloModel

/// Lets a limited number of callers run at a time, first come, first served. The number and the total size of the
/// waiting images are bounded, so that they fit into memory, and one reader gets at most a quarter of both.
final class ThumbnailTurns: Sendable {
    private enum Turn {
        case given, cancelled, refused
    }

    private struct Waiter {
        let id: UInt64
        let reader: ObjectId
        let byteCount: Int
        let continuation: CheckedContinuation<Turn, Never>
    }

    private struct State {
        var freeCount: Int
        var lastID: UInt64 = 0
        var waiters: [Waiter] = []
        var waitingByteCount = 0

        mutating func removeWaiter(at index: Int) -> CheckedContinuation<Turn, Never> {
            let waiter = waiters.remove(at: index)
            waitingByteCount -= waiter.byteCount
            return waiter.continuation
        }
    }

    /// One reader gets at most one part in this many of the waiting room.
    private static let share = 4

    private let waiterLimit: Int
    private let byteLimit: Int
    private let state: Mutex<State>

    init(count: Int, waiterLimit: Int, byteLimit: Int) {
        self.waiterLimit = waiterLimit
        self.byteLimit = byteLimit
        state = Mutex(State(freeCount: count))
    }

    var waiterCount: Int { state.withLock { $0.waiters.count } }

    /// Waits for a turn. Every call that returns true must be followed by one ``give()``.
    /// - Parameters:
    ///   - byteCount: the bytes that the caller holds while it waits.
    ///   - reader: on whose behalf.
    /// - Returns: false if too much is waiting already.
    /// - Throws: `CancellationError`.
    func take(holding byteCount: Int, for reader: ObjectId) async throws -> Bool {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let turn = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Turn, Never>) in
                let answer = state.withLock { state -> Turn? in
                    // Checked under the lock, so that a later cancellation finds the waiter.
                    if Task.isCancelled { return .cancelled }
                    if state.freeCount > 0 {
                        state.freeCount -= 1
                        return .given
                    }
                    guard state.waiters.count < waiterLimit, state.waitingByteCount + byteCount <= byteLimit else {
                        return .refused
                    }
                    let own = state.waiters.filter { $0.reader == reader }
                    guard own.count < max(1, waiterLimit / Self.share),
                        own.reduce(byteCount, { $0 + $1.byteCount }) <= byteLimit / Self.share
                    else { return .refused }
                    state.waiters.append(
                        Waiter(id: id, reader: reader, byteCount: byteCount, continuation: continuation))
                    state.waitingByteCount += byteCount
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.id == id }.map { state.removeWaiter(at: $0) }
            }
            waiter?.resume(returning: .cancelled)
        }
        switch turn {
        case .given: return true
        case .cancelled: throw CancellationError()
        case .refused: return false
        }
    }

    func give() {
        let next = state.withLock { state -> CheckedContinuation<Turn, Never>? in
            guard !state.waiters.isEmpty else {
                state.freeCount += 1
                return nil
            }
            return state.removeWaiter(at: 0)
        }
        next?.resume(returning: .given)
    }
}
