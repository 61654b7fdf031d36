import Foundation
import ChildPrograms

/// Runs `migration-tool codemod` on files in a separate folder.
struct Command {
    /// Runs a test in a new folder, which is deleted afterwards.
    static func inFolder(_ body: (Command) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "codemod-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(Command(folder: folder))
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

    func run(_ arguments: String...) async throws -> ProgramRun.Outcome {
        try await BuiltProgram("migration-tool", "MigrationTool").run(["codemod"] + arguments, in: folder)
    }
}
