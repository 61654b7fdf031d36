import ChildPrograms
import Foundation
import Testing

/// Runs the executable LocalApp.
enum LocalAppProcess {
    static func start(_ arguments: String...) async throws -> ProgramRun {
        try await ProgramRun(BuiltProgram("LocalApp").url, arguments)
    }

    /// Runs the program until it ends.
    /// - Returns: The first line of its output.
    @discardableResult
    static func run(_ arguments: String...) async throws -> String {
        try firstLine(try await BuiltProgram("LocalApp").run(arguments))
    }

    /// Like ``run(_:)``, but without root's privileges (capabilities(7)) if the tests run as root, so that file permissions take
    /// effect.
    static func runAsOrdinaryUser(_ arguments: String...) async throws -> String {
        let program = try BuiltProgram("LocalApp")
        guard geteuid() == 0 else { return try firstLine(try await program.run(arguments)) }
        let options = ["--bounding-set=-all", "--inh-caps=-all", "--", program.url.path]
        return try firstLine(try await ProgramRun(URL(fileURLWithPath: setpriv), options + arguments).outcome())
    }

    static var canRunAsOrdinaryUser: Bool { geteuid() != 0 || FileManager.default.isExecutableFile(atPath: setpriv) }

    private static let setpriv = "/usr/bin/setpriv"

    private static func firstLine(_ outcome: ProgramRun.Outcome) throws -> String {
        try #require(outcome.status == 0, "\(outcome.messages)")
        return outcome.lines.first ?? ""
    }
}
