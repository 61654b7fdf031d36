import Batching
import CryptoExtras
import Dispatch
import Synchronization

/// Computes scrypt hashes, one at a time, away from the threads that serve requests: each takes a lot of memory and
/// time, which is its purpose. Those that wait take turns by lane, so that one address cannot make the others wait for
/// everything that it asks.
public final class PasswordHasher: Sendable {
    /// Hashes that may wait for their turn. Beyond that the lane that has most gives way; it gets
    /// ``AuthenticationError/busy``, and so does the newcomer when no other lane has more.
    public static let maximumWaiting = 64

    private struct Job: Sendable {
        let work: @Sendable () throws -> [UInt8]
        let done: CheckedContinuation<[UInt8], any Error>
    }

    private struct State: Sendable {
        var jobs = FairQueue<Job>(maximumCount: PasswordHasher.maximumWaiting)
        var lastNumber: UInt64 = 0
        var computedCount = 0
    }

    public let parameters: PasswordParameters
    /// Gets one block for each job that was added; a block takes the job whose turn it is then.
    let queue = DispatchQueue(label: "tombolo.password-hashing")
    private let state = Mutex(State())

    /// - Parameter parameters: what new hashes get; existing ones keep theirs.
    public init(parameters: PasswordParameters = .standard) { self.parameters = parameters }

    /// Hashes that wait.
    var waitingCount: Int { state.withLock { $0.jobs.count } }

    /// Hashes that were begun since the start.
    var computedCount: Int { state.withLock { $0.computedCount } }

    /// Hashes a new password under a random salt.
    /// - Parameter lane: who asks, for the turns: an ``AddressGroup``.
    public func hash(_ password: String, lane: String = "") async throws -> PasswordHash {
        var generator = SystemRandomNumberGenerator()
        let salt = (0..<PasswordHash.saltByteCount).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        let key = try await derive(password, salt, parameters, lane)
        return PasswordHash(parameters: parameters, salt: salt, key: key)
    }

    /// Whether this is the password. Without a hash, it takes the time of one and is false.
    /// - Parameter lane: who asks, for the turns: an ``AddressGroup``.
    public func matches(_ password: String, _ hash: PasswordHash?, lane: String = "") async throws -> Bool {
        let salt = hash?.salt ?? [UInt8](repeating: 0, count: PasswordHash.saltByteCount)
        let key = try await derive(password, salt, hash?.parameters ?? parameters, lane)
        return PasswordHash.isEqual(key, hash?.key ?? []) && !password.isEmpty
    }

    private func derive(
        _ password: String, _ salt: [UInt8], _ parameters: PasswordParameters, _ lane: String
    ) async throws -> [UInt8] {
        // An empty one cannot be hashed; a single zero byte stands for it, which no password is.
        let bytes = password.isEmpty ? [0] : Array(password.utf8)
        return try await inTurn(lane) {
            try KDF.Scrypt.deriveKey(
                from: bytes, salt: salt, outputByteCount: PasswordHash.keyByteCount, rounds: parameters.rounds,
                blockSize: parameters.blockSize, parallelism: parameters.parallelism
            ).withUnsafeBytes { Array($0) }
        }
    }

    /// - Throws: ``AuthenticationError/busy``; `CancellationError` when the caller's task is cancelled before the turn.
    private func inTurn(_ lane: String, _ work: @escaping @Sendable () throws -> [UInt8]) async throws -> [UInt8] {
        try Task.checkCancellation()
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { done in
                let job = Job(work: work, done: done)
                switch state.withLock({ $0.jobs.append(job, number: number, to: lane) }) {
                case .added: queue.async { self.runNext() }
                // The block of the one that left is for this one now.
                case .addedInPlaceOf(let other): other.done.resume(throwing: AuthenticationError.busy)
                case .refused: done.resume(throwing: AuthenticationError.busy)
                }
            }
        } onCancel: {
            state.withLock { $0.jobs.remove(number, from: lane) }?.done.resume(throwing: CancellationError())
        }
    }

    private func runNext() {
        let next = state.withLock { state in
            let job = state.jobs.next()
            if job != nil { state.computedCount += 1 }
            return job
        }
        guard let job = next else { return }
        job.done.resume(with: Result { try job.work() })
    }
}
