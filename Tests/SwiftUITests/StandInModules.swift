import ChildPrograms
import Foundation

/// The SwiftUI layer, compiled against stand-ins for SwiftUI and Combine with the same flags that SwiftPM uses.
struct StandInModules {
    private static let tests = URL(filePath: #filePath).deletingLastPathComponent()
    private static let root = tests.deletingLastPathComponent().deletingLastPathComponent()

    /// The folder that contains the modules.
    private let folder: URL
    private let flags: [String]

    /// Compiles the stand-ins.
    /// - Parameter conditions: compilation conditions of the stand-ins.
    init(conditions: [String] = []) async throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "tombolo-swiftui-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        flags = try Self.flags(ofTarget: "TomboloSwiftUI")
        let language = ["-swift-version", "6", "-parse-as-library", "-I", folder.path()] + conditions.map { "-D\($0)" }
        for name in ["Combine", "SwiftUI"] {
            let file = Self.tests.appending(path: "StandIns/\(name).swift").path()
            try await require(language + emitting(name) + [file])
        }
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }

    /// The layer's source files.
    static func layer() throws -> [String] { try files(in: root.appending(path: "Packages/Device/SwiftUI")) }

    /// Type-checks the layer.
    /// - Returns: the compiler's messages, empty if there are neither errors nor warnings.
    func check(_ layer: [String]) async throws -> String {
        try await compile(flags + ["-I", folder.path(), "-module-name", "TomboloSwiftUI", "-typecheck"] + layer)
    }

    /// Type-checks the example app, whose files import only SwiftUI and RealmSwift. The modules are built as this
    /// package builds them where SwiftUI exists.
    func checkExample(languageMode: String) async throws -> String {
        try await require(["-I", folder.path()] + flags + emitting("TomboloSwiftUI") + Self.layer())
        let realmSwift = try Self.files(in: Self.root.appending(path: "Packages/Device/RealmSwift"))
        try await require(["-I", folder.path()] + flags + emitting("RealmSwift") + realmSwift)
        let example = try Self.files(in: Self.tests.appending(path: "Example"))
        return try await compile(
            ["-I", folder.path()] + Self.searchPaths(flags)
                + ["-swift-version", languageMode, "-warnings-as-errors", "-module-name", "Example", "-typecheck"]
                + ["-parse-as-library"] + example)
    }

    /// Writes a file into the folder.
    func write(_ text: String, as name: String) throws -> String {
        let file = folder.appending(path: name)
        try text.write(to: file, atomically: true, encoding: .utf8)
        return file.path()
    }

    private func emitting(_ module: String) -> [String] {
        let file = folder.appending(path: "\(module).swiftmodule").path()
        return ["-module-name", module, "-emit-module", "-emit-module-path", file]
    }

    private func require(_ arguments: [String]) async throws {
        let messages = try await compile(arguments)
        if !messages.isEmpty { throw CompilerError(description: messages) }
    }

    /// Runs the compiler found in `PATH`.
    /// - Returns: the compiler's messages, or a message if it failed without any.
    private func compile(_ arguments: [String]) async throws -> String {
        let outcome = try await ProgramRun(
            URL(filePath: "/usr/bin/env"), ["swiftc"] + arguments, in: folder
        ).outcome()
        let messages = outcome.output + outcome.messages
        return outcome.status != 0 && messages.isEmpty ? "swiftc ended with status \(outcome.status)." : messages
    }

    private static func files(in folder: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "swift" }.map { $0.path() }.sorted()
    }

    // MARK: SwiftPM's flags

    /// The flags that matter for type-checking, from SwiftPM's own build description.
    private static func flags(ofTarget name: String) throws -> [String] {
        let tests = try BuiltProgram("LegacyDatabase").url.deletingLastPathComponent()
        let description = tests.deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "\(tests.lastPathComponent).yaml")
        for line in try String(contentsOf: description, encoding: .utf8).split(separator: "\n") {
            guard line.contains("\"-module-name\",\"\(name)\""), let start = line.firstIndex(of: "[") else { continue }
            return searchPaths(
                try JSONDecoder().decode([String].self, from: Data(line[start...].utf8)), andLanguage: true)
        }
        throw CompilerError(description: "\(description.path()) has no command that compiles \(name).")
    }

    /// The flags that locate modules and, if requested, those that choose the language.
    private static func searchPaths(_ flags: [String], andLanguage: Bool = false) -> [String] {
        let wanted: Set =
            andLanguage
            ? ["-I", "-Xcc", "-target", "-swift-version", "-enable-upcoming-feature", "-package-name"]
            : ["-I", "-Xcc", "-target"]
        var kept: [String] = []
        var index = 0
        while index < flags.count {
            if wanted.contains(flags[index]), index + 1 < flags.count {
                kept += flags[index...(index + 1)]
                index += 1
            } else if andLanguage, ["-warnings-as-errors", "-parse-as-library"].contains(flags[index]) {
                kept.append(flags[index])
            }
            index += 1
        }
        return kept
    }
}

struct CompilerError: Error, CustomStringConvertible {
    let description: String
}
