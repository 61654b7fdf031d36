import ArgumentParser
import TomboloSimulator

extension Simulate {
    struct Mutants: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Switches on one bug after another; each must be found.")

        @Option(help: "The seeds, as 0..<2000.")
        var seeds = SeedRange(SimulationRun.defaultSeeds)

        func run() async throws {
            var survivors: [Mutant] = []
            for mutant in Mutant.allCases {
                let name = mutant.rawValue
                let padded = name + String(repeating: " ", count: max(0, 34 - name.count))
                if let failure = await SimulationRun.firstCatch(of: mutant, in: seeds.range) {
                    print("\(padded) caught by seed \(failure.seed): \(failure.message.prefix(140))")
                } else {
                    survivors.append(mutant)
                    print("\(padded) SURVIVES")
                }
            }
            print("\(Mutant.allCases.count - survivors.count) of \(Mutant.allCases.count) caught")
            guard survivors.isEmpty else { throw ExitCode.failure }
        }
    }
}
