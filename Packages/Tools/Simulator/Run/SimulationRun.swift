/// Runs many seeds, one after another.
public struct SimulationRun: Sendable {
    /// The number of seeds run.
    public private(set) var seeds = 0
    /// The number of batches applied by devices.
    public private(set) var batches = 0
    /// The number of ticks made.
    public private(set) var ticks = 0
    /// The events that occurred in any seed.
    public private(set) var coverage = Coverage()
    /// The failures found.
    public private(set) var failures: [SimulationFailure] = []

    /// The seeds of the default tests, which must also find every mutant.
    public static let defaultSeeds: Range<UInt64> = 0..<2_000

    public init() {}

    /// Runs seeds until one fails.
    /// - Parameter progress: called after each seed.
    public mutating func run(
        _ range: Range<UInt64>, mutant: Mutant? = nil, progress: ((UInt64) -> Void)? = nil
    ) async {
        for seed in range {
            do {
                let report = try await Simulation.run(seed: seed, mutant: mutant)
                seeds += 1
                batches += report.batches
                ticks += report.ticks
                coverage.add(report.coverage)
            } catch {
                failures.append(
                    error as? SimulationFailure ?? SimulationFailure(seed: seed, message: "\(error)"))
                return
            }
            progress?(seed)
        }
    }

    /// Adds the result of another range of seeds.
    public mutating func add(_ other: SimulationRun) {
        seeds += other.seeds
        batches += other.batches
        ticks += other.ticks
        coverage.add(other.coverage)
        failures += other.failures
    }

    /// The failure of the first seed that finds a mutant, or nil if it survives.
    public static func firstCatch(of mutant: Mutant, in seeds: Range<UInt64> = defaultSeeds) async -> SimulationFailure?
    {
        var run = SimulationRun()
        await run.run(seeds, mutant: mutant)
        return run.failures.first
    }
}
