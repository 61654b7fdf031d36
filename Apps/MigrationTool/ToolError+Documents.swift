import TomboloModel
import TomboloServerModel
import ToolSupport

extension ToolError {
    /// - Parameter file: a file that isn't a model document, or is one of a newer version.
    init(_ error: ModelDocumentError, file: String) {
        guard !error.isNewerFormat else {
            self.init(
                "\(file): \(error)", fix: "Update this program, or export the document with this program's version.")
            return
        }
        self.init("\(file) isn't a model document:\n\(error)", fix: "Export it again.")
    }

    /// - Parameter files: the documents that a command wanted to combine with those in the database.
    init(_ error: ServerModelError, naming files: [String]) {
        guard case .invalid(let problems) = error, !files.isEmpty else {
            self.init("\(error)", fix: "Correct the documents. Nothing was changed.")
            return
        }
        self.init(
            "These conflict with each other or with what the database has: \(files.joined(separator: ", ")):\n"
                + problems.map { "- \($0)" }.joined(separator: "\n"),
            fix: "Correct the documents. Nothing was changed.")
    }
}
