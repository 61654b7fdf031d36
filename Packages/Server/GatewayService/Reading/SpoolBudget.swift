internal import Synchronization

/// Bounds what all spools of a gateway hold, in memory and on disk. Of the disk one user's devices get no more than half.
final class SpoolBudget: Sendable {
    /// Batches on their way to devices, in memory; what is beyond goes to files.
    static let memoryByteCount = 64 << 20
    /// And in files; what is beyond waits in the database.
    static let diskByteCount = 8 << 30

    private struct State {
        var memory = 0
        var disk = 0
        var diskOfUser: [String: Int] = [:]
    }

    private let state = Mutex(State())

    /// In memory and on disk, in bytes.
    var heldByteCount: Int { state.withLock { $0.memory + $0.disk } }

    /// In bytes.
    var held: (memory: Int, disk: Int) { state.withLock { ($0.memory, $0.disk) } }

    func reserveMemory(_ count: Int) -> Bool {
        state.withLock { state in
            guard state.memory + count <= Self.memoryByteCount else { return false }
            state.memory += count
            return true
        }
    }

    func releaseMemory(_ count: Int) { state.withLock { $0.memory -= count } }

    func reserveDisk(_ count: Int, of user: String) -> Bool {
        state.withLock { state in
            let own = state.diskOfUser[user] ?? 0
            guard state.disk + count <= Self.diskByteCount, own + count <= Self.diskByteCount / 2 else { return false }
            state.disk += count
            state.diskOfUser[user] = own + count
            return true
        }
    }

    func releaseDisk(_ count: Int, of user: String) {
        guard count > 0 else { return }
        state.withLock { state in
            state.disk -= count
            let left = (state.diskOfUser[user] ?? 0) - count
            state.diskOfUser[user] = left > 0 ? left : nil
        }
    }
}
