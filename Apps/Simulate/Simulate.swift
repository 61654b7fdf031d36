import ArgumentParser
import TomboloSimulator

/// Runs the synchronisation simulator.
@main
struct Simulate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Runs devices, gateways and a database with faults under a seeded scheduler.",
        subcommands: [Run.self, Seed.self, Mutants.self])
}
