import Foundation
import Synchronization
import Testing

@testable import SUSI

/// The built program, in processes of its own.
enum Susi {
    struct Result {
        var status: Int32
        /// Standard output, by lines.
        var lines: [String]
        var errors: String
    }

    private static var program: URL {
        get throws {
            let folder =
                Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL.deletingLastPathComponent()
                ?? URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
            for name in ["susi", "SUSI"] {
                let candidate = folder.appending(path: name)
                var isFolder: ObjCBool = false
                if FileManager.default.fileExists(atPath: candidate.path, isDirectory: &isFolder), !isFolder.boolValue {
                    return candidate
                }
            }
            throw SusiError("There is no executable 'susi' in \(folder.path): build the whole package first.")
        }
    }

    /// A run that was started. It is killed when nobody holds it any more.
    final class Run: Sendable {
        private let process: Mutex<Process>
        private let ended: AsyncStream<Void>
        private let output: URL
        private let errors: URL
        let pid: pid_t

        fileprivate init(_ arguments: [String], _ environment: [String: String]) throws {
            let process = Process()
            process.executableURL = try program
            process.arguments = arguments
            process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
            process.standardInput = FileHandle.nullDevice
            // Files, for a pipe that nobody reads stops a program.
            let folder = FileManager.default.temporaryDirectory
            output = folder.appending(path: "susi-output-\(UUID().uuidString)")
            errors = folder.appending(path: "susi-errors-\(UUID().uuidString)")
            for file in [output, errors] { try Data().write(to: file) }
            process.standardOutput = try FileHandle(forWritingTo: output)
            process.standardError = try FileHandle(forWritingTo: errors)
            let (ended, continuation) = AsyncStream.makeStream(of: Void.self)
            process.terminationHandler = { _ in continuation.finish() }
            self.ended = ended
            try process.run()
            pid = process.processIdentifier
            self.process = Mutex(process)
        }

        deinit {
            process.withLock { if $0.isRunning { kill($0.processIdentifier, SIGKILL) } }
            for file in [output, errors] { try? FileManager.default.removeItem(at: file) }
        }

        var isRunning: Bool { process.withLock { $0.isRunning } }

        func end() async throws -> Result {
            for await _ in ended {}
            let text = String(decoding: try Data(contentsOf: output), as: UTF8.self)
            return Result(
                status: process.withLock {
                    $0.terminationReason == .exit ? $0.terminationStatus : -$0.terminationStatus
                },
                lines: text.split(separator: "\n").map(String.init),
                errors: String(decoding: try Data(contentsOf: errors), as: UTF8.self))
        }
    }

    static func start(_ arguments: [String], environment: [String: String] = [:]) throws -> Run {
        try Run(arguments, environment)
    }

    static func run(_ arguments: [String], environment: [String: String] = [:]) async throws -> Result {
        let run = try start(arguments, environment: environment)
        return try await run.end()
    }
}
