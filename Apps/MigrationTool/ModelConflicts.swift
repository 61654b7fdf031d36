import TomboloModel
import ToolSupport

/// Detects model documents that conflict within one command. Messages use the names of their files.
enum ModelConflicts {
    /// - Throws: ``ToolError`` with every conflict: two documents for the same app, and classes or tables that two
    ///   apps share.
    static func check(_ documents: [(file: String, models: ModelDocument)]) throws {
        var problems: [String] = []
        var apps: [String: String] = [:]
        var classes: [String: (file: String, app: String)] = [:]
        var tables: [String: (file: String, className: String)] = [:]
        for (file, models) in documents {
            if let other = apps.updateValue(file, forKey: models.app) {
                problems.append(
                    "\(other) and \(file) are both documents of the app '\(models.app)', which can have only one: pass "
                        + "only the newer file, or give the other app another name.")
                continue
            }
            for item in models.classes {
                guard let table = item.table else { continue }
                if let other = classes.updateValue((file, models.app), forKey: item.name) {
                    problems.append(
                        "\(other.file) and \(file) both define the class \(item.name): the apps '\(other.app)' and "
                            + "'\(models.app)' share a database and need different names. Rename one.")
                } else if let other = tables.updateValue((file, item.name), forKey: table) {
                    problems.append(
                        "\(other.className) in \(other.file) and \(item.name) in \(file) both have the table "
                            + "'\(table)': give one of them another tableName().")
                }
            }
        }
        guard problems.isEmpty else {
            throw ToolError(
                "The model documents conflict with each other:\n" + problems.map { "- \($0)" }.joined(separator: "\n"),
                fix: "Correct the models and export them again. Nothing was changed.")
        }
    }
}
