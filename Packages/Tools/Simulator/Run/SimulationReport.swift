/// What one seed did.
public struct SimulationReport: Sendable {
    public let seed: UInt64
    /// Writes of devices and of plain SQL, and faults.
    public let operations: Int
    public let batches: Int
    public let ticks: Int
    public let coverage: Coverage
    /// Virtual milliseconds.
    public let duration: Int
}
