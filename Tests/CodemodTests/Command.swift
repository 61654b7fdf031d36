import Foundation

/// Runs `migration-tool codemod` on files in a folder of its own.
struct Command {
    struct Outcome {
        let status: Int32
        let output: String
        let messages: String
    }

    struct Failure: Error {
        let message: String
    }

    /// Runs a test in a new folder, which goes afterwards.
    static func inFolder(_ body: (Command) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "codemod-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(Command(folder: folder))
    }

    let folder: URL

    func write(_ text: String, _ name: String) throws {
        let file = folder.appending(path: name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    func read(_ name: String) throws -> String {
        try String(contentsOf: folder.appending(path: name), encoding: .utf8)
    }

    var names: [String] {
        get throws { try FileManager.default.subpathsOfDirectory(atPath: folder.path()).sorted() }
    }

    func run(_ arguments: String...) throws -> Outcome {
        let process = Process()
        process.executableURL = try Self.program
        process.arguments = ["codemod"] + arguments
        process.currentDirectoryURL = folder
        // Files rather than pipes: they take any amount without a reader.
        let output = folder.deletingLastPathComponent().appending(path: folder.lastPathComponent + ".output")
        let messages = folder.deletingLastPathComponent().appending(path: folder.lastPathComponent + ".messages")
        defer { for file in [output, messages] { try? FileManager.default.removeItem(at: file) } }
        for file in [output, messages] { _ = FileManager.default.createFile(atPath: file.path(), contents: nil) }
        let handles = try [output, messages].map { try FileHandle(forWritingTo: $0) }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = handles[0]
        process.standardError = handles[1]
        try process.run()
        process.waitUntilExit()
        for handle in handles { try handle.close() }
        return Outcome(
            status: process.terminationStatus, output: try String(contentsOf: output, encoding: .utf8),
            messages: try String(contentsOf: messages, encoding: .utf8))
    }

    /// The executable that was built with the tests.
    private static var program: URL {
        get throws {
            let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
            let folder =
                (bundle?.bundleURL ?? URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath())
                .deletingLastPathComponent()
            for name in ["migration-tool", "MigrationTool"] {
                let candidate = folder.appending(path: name)
                if FileManager.default.isExecutableFile(atPath: candidate.path()) { return candidate }
            }
            throw Failure(message: "There is no migration-tool in \(folder.path()): build the whole package first.")
        }
    }
}
