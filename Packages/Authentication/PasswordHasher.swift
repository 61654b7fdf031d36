import CryptoExtras
import Dispatch
import Synchronization

/// Computes scrypt hashes, one at a time, away from the threads that serve requests: each takes a lot of memory and
/// time, which is its purpose.
public final class PasswordHasher: Sendable {
    /// Hashes that may wait for their turn; further ones fail with ``AuthenticationError/busy``.
    public static let maximumWaiting = 64

    public let parameters: PasswordParameters
    let queue = DispatchQueue(label: "tombolo.password-hashing")
    private let waiting = Mutex(0)

    /// - Parameter parameters: what new hashes get; existing ones keep theirs.
    public init(parameters: PasswordParameters = .standard) { self.parameters = parameters }

    /// Hashes a new password under a random salt.
    public func hash(_ password: String) async throws -> PasswordHash {
        var generator = SystemRandomNumberGenerator()
        let salt = (0..<PasswordHash.saltByteCount).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        let key = try await derive(password, salt, parameters)
        return PasswordHash(parameters: parameters, salt: salt, key: key)
    }

    /// Whether this is the password. Without a hash, it takes the time of one and is false.
    public func matches(_ password: String, _ hash: PasswordHash?) async throws -> Bool {
        let salt = hash?.salt ?? [UInt8](repeating: 0, count: PasswordHash.saltByteCount)
        let key = try await derive(password, salt, hash?.parameters ?? parameters)
        return PasswordHash.isEqual(key, hash?.key ?? []) && !password.isEmpty
    }

    private func derive(_ password: String, _ salt: [UInt8], _ parameters: PasswordParameters) async throws -> [UInt8] {
        let isAdmitted = waiting.withLock { count in
            guard count < Self.maximumWaiting else { return false }
            count += 1
            return true
        }
        guard isAdmitted else { throw AuthenticationError.busy }
        defer { waiting.withLock { $0 -= 1 } }
        // An empty one cannot be hashed; a single zero byte stands for it, which no password is.
        let bytes = password.isEmpty ? [0] : Array(password.utf8)
        return try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(
                    with: Result {
                        try KDF.Scrypt.deriveKey(
                            from: bytes, salt: salt, outputByteCount: PasswordHash.keyByteCount,
                            rounds: parameters.rounds, blockSize: parameters.blockSize,
                            parallelism: parameters.parallelism
                        ).withUnsafeBytes { Array($0) }
                    })
            }
        }
    }
}
