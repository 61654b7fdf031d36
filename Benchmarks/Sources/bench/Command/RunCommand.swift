import ArgumentParser
import Foundation

/// Runs the measurements, prints a table and writes a JSON file.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run the measurements, print a table, write a JSON file.")

    @Option(
        help: ArgumentHelp(
            "Run only this measurement; can be repeated.",
            discussion: "One of: \(MeasurementName.allCases.map(\.rawValue).joined(separator: ", "))."))
    var only: [MeasurementName] = []

    @Option(
        help: ArgumentHelp(
            "Measure only this step of the object store; can be repeated.",
            discussion: "One of: \(ObjectStoreStep.allCases.map(\.rawValue).joined(separator: ", "))."))
    var step: [ObjectStoreStep] = []

    @Option(
        help: ArgumentHelp(
            "How many logins to measure.",
            discussion: """
                The default is \(Sizes.full.logins.loginCount), which takes many minutes because hashes are computed one \
                at a time; with --quick, it's \(Sizes.quick.logins.loginCount).
                """))
    var logins: Int?

    @Option(
        help: ArgumentHelp(
            "Make only these rows of the scale measurement, separated by commas.",
            discussion: "Of: \(ScaleRow.allNames)."),
        transform: ScaleRow.list)
    var rows: [ScaleRow]?

    @Option(
        help: ArgumentHelp(
            "Measure only this part of the row 'hostile'; can be repeated.",
            discussion: "One of: \(HostileKind.allCases.map(\.rawValue).joined(separator: ", "))."))
    var hostile: [HostileKind] = []

    @Option(
        help: ArgumentHelp(
            "How many devices to connect in the scale measurement, instead of \(Sizes.full.scale.deviceCount).",
            discussion:
                "Rows with fewer devices shrink in proportion. The wanted figures are those for the full number."))
    var devices: Int?

    @Option(help: "How many runs of the scale measurement to make, instead of \(Sizes.full.scale.runCount).")
    var runs: Int?

    @Flag(help: "Small sizes and short times: shows that everything works; the figures mean nothing.")
    var quick = false

    @Option(help: "The JSON file to write.")
    var output = "bench.json"

    func validate() throws {
        if let logins, logins < 1 { throw ValidationError("--logins is \(logins): use a number greater than 0.") }
        if let runs, runs < 1 { throw ValidationError("--runs is \(runs): use a number greater than 0.") }
        if let devices, !Sizes.Scale.deviceCounts.contains(devices) {
            throw ValidationError(
                "--devices is \(devices): use a number from \(Sizes.Scale.deviceCounts.lowerBound) to "
                    + "\(Sizes.Scale.deviceCounts.upperBound), the most that a gateway accepts.")
        }
    }

    func run() async throws {
        // Writing to a process that has ended must fail with an error, not kill this process.
        signal(SIGPIPE, SIG_IGN)
        let names = only.isEmpty ? MeasurementName.allCases : MeasurementName.allCases.filter(only.contains)
        var sizes = quick ? Sizes.quick : Sizes.full
        if !step.isEmpty { sizes.objectStore.steps = ObjectStoreStep.allCases.filter(step.contains) }
        if let rows { sizes.scale.rows = rows }
        if !hostile.isEmpty { sizes.scale.hostileKinds = hostile }
        if let runs { sizes.scale.runCount = runs }
        if let devices { sizes.scale.deviceCount = devices }
        if let logins { sizes.logins.loginCount = logins }
        let database = try BenchDatabase()
        try await database.requireEmpty()
        var report = Report(isQuick: quick, machine: try await Machine.describe(database))
        do {
            for name in names {
                Lines.say("\(name.rawValue) …")
                let before = Machine.loadAverage
                var measurement = try await name.measurement(sizes).measure(database)
                measurement.loadBefore = before
                measurement.loadAfter = Machine.loadAverage
                report.measurements.append(measurement)
                Lines.say(Table.text(measurement))
                if let verdict = measurement.verdict { Lines.say(verdict) }
            }
        } catch {
            try? await database.reset()
            throw error
        }
        try await database.reset()
        try report.write(to: URL(fileURLWithPath: output))
        Lines.say("Written: \(output)")
    }
}
