/// The result of one seed.
public struct SimulationReport: Sendable {
    /// The seed.
    public let seed: UInt64
    /// The number of writes by devices and plain SQL, and of faults.
    public let operations: Int
    /// The number of batches applied by devices.
    public let batches: Int
    /// The number of ticks made.
    public let ticks: Int
    /// The events that occurred.
    public let coverage: Coverage
    /// The virtual duration in milliseconds.
    public let duration: Int
}
