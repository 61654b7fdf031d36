import ArgumentParser
import Foundation
import TomboloModel
import ToolSupport

/// Whose tables a command works on.
struct ModelOptions: ParsableArguments {
    @Option(
        name: .customLong("models"), parsing: .upToNextOption,
        help: ArgumentHelp(
            "The model documents of the apps, as their code exports them.", valueName: "file"),
        completion: .file(extensions: ["json"]))
    var files: [String] = []

    /// The classes of all documents together.
    /// - Throws: ``ToolError`` if no document is named, or one can't be read; `SchemaError` if they don't go together.
    func schema() throws -> Schema {
        guard !files.isEmpty else {
            throw ToolError(
                "No models are named.",
                fix: "Export your app's with ModelDocument(app:objectTypes:) and pass the file: --models models.json")
        }
        return try Schema(try files.flatMap(Self.classes))
    }

    private static func classes(_ file: String) throws -> [ClassSchema] {
        let text: String
        do {
            text = try String(contentsOf: URL(filePath: file), encoding: .utf8)
        } catch {
            throw ToolError("\(file) cannot be read: \(error.localizedDescription)", fix: "Check the path.")
        }
        do {
            return try ModelDocument(json: text).schema().classes.filter { $0.owner == nil }
        } catch {
            throw ToolError("\(file) isn't a model document:\n\(error)", fix: "Export it again.")
        }
    }
}
