/// The cost of an scrypt hash (RFC 7914, section 2). It is stored with every hash, so that it can be raised later.
public struct PasswordParameters: Hashable, Sendable {
    /// N: a power of two. Time and memory are proportional to it.
    public let rounds: Int
    /// r: memory is 128 · N · r bytes.
    public let blockSize: Int
    /// p
    public let parallelism: Int

    public init(rounds: Int, blockSize: Int, parallelism: Int) {
        self.rounds = rounds
        self.blockSize = blockSize
        self.parallelism = parallelism
    }

    /// Whether a hash costs more than with the other parameters.
    func isStronger(than other: PasswordParameters) -> Bool {
        Double(rounds) * Double(blockSize) * Double(parallelism)
            > Double(other.rounds) * Double(other.blockSize) * Double(other.parallelism)
    }

    /// The cost of new passwords: 32 MiB and a few dozen milliseconds each.
    public static let standard = PasswordParameters(rounds: 1 << 15, blockSize: 8, parallelism: 1)
    /// For tests only: a hash that costs next to nothing.
    public static let weakForTests = PasswordParameters(rounds: 16, blockSize: 8, parallelism: 1)
}
