public import ArgumentParser
public import TomboloSimulator

extension Simulate {
    struct Seed: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Runs one seed.")

        @Argument(help: "The seed.")
        var seed: UInt64

        @Flag(help: "Prints everything that happens.")
        var trace = false

        @Option(help: "Switches a bug on: one of \(Mutant.allCases.map(\.rawValue).joined(separator: ", ")).")
        var mutant: Mutant?

        func run() async throws {
            do {
                let report = try await Simulation.run(
                    seed: seed, mutant: mutant, trace: trace ? { print($0) } : nil)
                print(
                    "seed \(seed): \(report.operations) operations, \(report.batches) batches, \(report.ticks) ticks, "
                        + "\(report.duration) virtual ms: all equal")
            } catch let failure as SimulationFailure {
                print(failure)
                throw ExitCode.failure
            }
        }
    }
}

extension Mutant: ExpressibleByArgument {}
