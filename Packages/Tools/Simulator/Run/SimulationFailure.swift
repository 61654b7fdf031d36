/// What a simulation found wrong, and the command that reproduces it.
public struct SimulationFailure: Error, Sendable, CustomStringConvertible {
    /// The seed that failed.
    public let seed: UInt64
    /// What went wrong.
    public let message: String

    public var description: String {
        "seed \(seed): \(message)\n  replay with: swift run simulate seed \(seed) --trace"
    }
}
