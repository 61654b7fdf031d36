internal import Synchronization

/// Bounds what all spools of a gateway hold, in memory and on disk. On disk, one user's devices get at most half, and
/// those of one place (``Peer``) at most three quarters.
final class SpoolBudget: Sendable {
    /// Bytes in memory of batches on their way to devices. Anything beyond goes to files.
    static let memoryByteCount = 64 << 20
    /// Bytes in files. Anything beyond waits in the database.
    static let diskByteCount = 8 << 30

    private struct State {
        var memory = 0
        var disk = 0
        var diskOfUser: [String: Int] = [:]
        var diskOfPlace: [String: Int] = [:]
    }

    private let state = Mutex(State())

    /// Bytes in memory and on disk.
    var heldByteCount: Int { state.withLock { $0.memory + $0.disk } }

    /// Bytes in memory and on disk, separately.
    var held: (memory: Int, disk: Int) { state.withLock { ($0.memory, $0.disk) } }

    func reserveMemory(_ count: Int) -> Bool {
        state.withLock { state in
            guard state.memory + count <= Self.memoryByteCount else { return false }
            state.memory += count
            return true
        }
    }

    func releaseMemory(_ count: Int) { state.withLock { $0.memory -= count } }

    func reserveDisk(_ count: Int, of peer: Peer) -> Bool {
        state.withLock { state in
            let ofUser = (state.diskOfUser[peer.user] ?? 0) + count
            let ofPlace = (state.diskOfPlace[peer.place] ?? 0) + count
            guard state.disk + count <= Self.diskByteCount, ofUser <= Self.diskByteCount / 2,
                ofPlace <= Self.diskByteCount / 4 * 3
            else { return false }
            state.disk += count
            state.diskOfUser[peer.user] = ofUser
            state.diskOfPlace[peer.place] = ofPlace
            return true
        }
    }

    func releaseDisk(_ count: Int, of peer: Peer) {
        guard count > 0 else { return }
        state.withLock { state in
            state.disk -= count
            let ofUser = (state.diskOfUser[peer.user] ?? 0) - count
            state.diskOfUser[peer.user] = ofUser > 0 ? ofUser : nil
            let ofPlace = (state.diskOfPlace[peer.place] ?? 0) - count
            state.diskOfPlace[peer.place] = ofPlace > 0 ? ofPlace : nil
        }
    }
}
