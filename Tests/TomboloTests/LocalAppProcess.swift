import Foundation
import TestPrograms

/// A run of the executable LocalApp.
struct LocalAppProcess {
    private let process: Process
    private let output: Pipe

    static func start(_ arguments: String...) throws -> LocalAppProcess { try LocalAppProcess(arguments) }

    /// Runs to the end.
    /// - Returns: the first line of what it printed.
    @discardableResult
    static func run(_ arguments: String...) throws -> String {
        try LocalAppProcess(arguments).firstLine()
    }

    /// As ``run(_:)``, where the tests run as root without root's privileges (capabilities(7)): files that forbid
    /// something do so then.
    static func runAsOrdinaryUser(_ arguments: String...) throws -> String {
        guard geteuid() == 0 else { return try LocalAppProcess(arguments).firstLine() }
        return try LocalAppProcess(
            ["--bounding-set=-all", "--inh-caps=-all", "--", BuiltProgram("LocalApp").url.path] + arguments,
            program: URL(fileURLWithPath: setpriv)
        ).firstLine()
    }

    static var canRunAsOrdinaryUser: Bool { geteuid() != 0 || FileManager.default.isExecutableFile(atPath: setpriv) }

    private static let setpriv = "/usr/bin/setpriv"

    private func firstLine() throws -> String {
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        guard try wait() == 0 else { throw CocoaError(.executableLoad) }
        return text.split(separator: "\n").first.map(String.init) ?? ""
    }

    private init(_ arguments: [String], program: URL? = nil) throws {
        process = Process()
        process.executableURL = try program ?? BuiltProgram("LocalApp").url
        process.arguments = arguments
        output = Pipe()
        process.standardOutput = output
        try process.run()
    }

    /// - Returns: the exit status, or the signal that ended it.
    func wait() throws -> Int32 {
        process.waitUntilExit()
        return process.terminationStatus
    }
}
