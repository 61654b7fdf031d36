/// What a simulation found wrong, with the command that shows it again.
public struct SimulationFailure: Error, Sendable, CustomStringConvertible {
    public let seed: UInt64
    public let message: String

    public var description: String {
        "seed \(seed): \(message)\n  replay with: swift run simulate seed \(seed) --trace"
    }
}
