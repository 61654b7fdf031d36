import ChildPrograms
import Foundation

/// Runs a program until it ends.
enum Tool {
    /// Returns the program's standard output without the last line break.
    /// - Throws: ``DemoFailure`` with the program's error output if its exit code isn't 0.
    @discardableResult
    static func run(_ program: URL, _ arguments: [String]) async throws -> String {
        let outcome = try await ProgramRun(program, arguments).outcome()
        guard outcome.status == 0 else {
            throw DemoFailure(
                "\(program.lastPathComponent) exited with code "
                    + "\(outcome.status).\n\(outcome.output)\(outcome.messages)")
        }
        return outcome.output.hasSuffix("\n") ? String(outcome.output.dropLast()) : outcome.output
    }

    /// Finds a program on the search path.
    static func find(_ name: String, package: String) throws -> URL {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        for folder in path.split(separator: ":") {
            let candidate = URL(fileURLWithPath: String(folder)).appending(path: name)
            if FileManager.default.isExecutableFile(atPath: candidate.path()) { return candidate }
        }
        throw DemoFailure("The tool '\(name)' isn't on the PATH; on Debian and Ubuntu: apt-get install \(package)")
    }
}
