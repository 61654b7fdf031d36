import ArgumentParser
import TomboloSimulator

extension Simulate {
    struct Run: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Runs many seeds and prints how often each fault and recovery path occurred.",
            discussion: "Fails if a seed fails, or if anything in the table never occurred.")

        @Option(help: "The seeds, as 0..<2000.")
        var seeds = SeedRange(SimulationRun.defaultSeeds)

        func run() async throws {
            var run = SimulationRun()
            await run.run(seeds.range)
            print(run.coverage.table)
            print("\(run.seeds) seeds, \(run.batches) batches, \(run.ticks) ticks")
            if let failure = run.failures.first {
                print(failure)
                throw ExitCode.failure
            }
            guard run.coverage.missing.isEmpty else {
                print("never occurred: \(run.coverage.missing.map(\.rawValue).joined(separator: "; "))")
                throw ExitCode.failure
            }
        }
    }
}
