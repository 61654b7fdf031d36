import Batching
import CryptoExtras
import Dispatch
import Synchronization

/// Computes scrypt hashes, one at a time, away from the threads that serve requests: a hash is meant to take much
/// memory and time. Waiting jobs take turns by lane, so that an address with many jobs can't make the others wait for
/// all of them.
public final class PasswordHasher: Sendable {
    /// The most hashes that may wait for their turn. Beyond that, a job of the longest lane is dropped with
    /// ``AuthenticationError/busy``. If no other lane is longer than the new job's, the new job is refused instead.
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
    /// Gets one block for each job that is added. A block takes the job whose turn it is when it runs.
    let queue = DispatchQueue(label: "tombolo.password-hashing")
    private let state = Mutex(State())

    /// - Parameter parameters: the cost of new hashes; existing ones keep theirs.
    public init(parameters: PasswordParameters = .standard) { self.parameters = parameters }

    /// The number of waiting hashes.
    var waitingCount: Int { state.withLock { $0.jobs.count } }

    /// The number of hashes begun since the start.
    var computedCount: Int { state.withLock { $0.computedCount } }

    /// Hashes a new password with a random salt.
    /// - Parameter lane: the caller, for taking turns: an ``AddressGroup``.
    public func hash(_ password: String, lane: String = "") async throws -> PasswordHash {
        var generator = SystemRandomNumberGenerator()
        let salt = (0..<PasswordHash.saltByteCount).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        let key = try await derive(password, salt, parameters, lane)
        return PasswordHash(parameters: parameters, salt: salt, key: key)
    }

    /// Whether this is the password. Without a hash, it takes as long as with one, and returns false.
    /// - Parameter lane: the caller, for taking turns: an ``AddressGroup``.
    public func matches(_ password: String, _ hash: PasswordHash?, lane: String = "") async throws -> Bool {
        let salt = hash?.salt ?? [UInt8](repeating: 0, count: PasswordHash.saltByteCount)
        let key = try await derive(password, salt, hash?.parameters ?? parameters, lane)
        return PasswordHash.isEqual(key, hash?.key ?? []) && !password.isEmpty
    }

    private func derive(
        _ password: String, _ salt: [UInt8], _ parameters: PasswordParameters, _ lane: String
    ) async throws -> [UInt8] {
        // An empty password can't be hashed. A single zero byte stands for it, which no password is.
        let bytes = password.isEmpty ? [0] : Array(password.utf8)
        return try await inTurn(lane) {
            try KDF.Scrypt.deriveKey(
                from: bytes, salt: salt, outputByteCount: PasswordHash.keyByteCount, rounds: parameters.rounds,
                blockSize: parameters.blockSize, parallelism: parameters.parallelism
            ).withUnsafeBytes { Array($0) }
        }
    }

    /// - Throws: ``AuthenticationError/busy``; `CancellationError` if the caller's task is cancelled before its turn.
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
                // The block of the job that left is now this one's.
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
