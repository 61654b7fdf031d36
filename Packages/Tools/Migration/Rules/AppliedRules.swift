import PostgresClient
import TomboloModel
import TomboloRuleDocuments
import TomboloServerModel

/// An app's rules from a file in the form to store: along with changes to their matrix that were made in an admin
/// server since rules were last applied.
struct AppliedRules: Sendable {
    private let app: String
    /// The rules as given.
    let file: String
    /// The rules to store.
    let content: String
    /// What happened to the changes, for the documents' history. Nil if there is nothing to report.
    let note: String?
    /// Why the rules can't be stored like this.
    let problems: [String]
    /// Differences in the matrix, for edited rules.
    let changes: [MatrixChange]

    /// Creates the result for rules that were edited, based on the current ones.
    init(edited content: String, app: String, over current: String?) {
        (self.app, file, self.content, note, problems) = (app, content, content, nil, [])
        changes = current.map { Self.changes(from: $0, to: content, ServerModel.ruleFile(app)) } ?? []
    }

    /// The document to store.
    /// - Parameter account: the account that asked a server for it, or nil for a tool.
    func change(over previous: StoredDocument?, account: String? = nil) -> DocumentExtension.Change {
        DocumentExtension.Change(
            app: app, kind: .rules, content: content, previous: previous?.version,
            file: account == nil ? .rules(file) : nil, note: note, applied: file, account: account)
    }

    /// ``note`` preceded by the app's name.
    var notes: [String] { note.map { ["Rules of \(app): \($0)"] } ?? [] }

    /// - Parameters:
    ///   - previous: the app's current rules.
    ///   - replacesBoxes: whether the file is stored as given.
    /// - Throws: the database's error.
    init(
        _ file: String, app: String, over previous: StoredDocument?, replacesBoxes: Bool,
        _ connection: PostgresConnection
    ) async throws {
        let base = previous == nil ? nil : try await DocumentTable.applied(.rules, of: app, connection)
        self.init(file, app: app, base: base, current: previous?.content, replacesBoxes: replacesBoxes)
    }

    /// - Parameters:
    ///   - base: the rules that were last applied.
    ///   - current: the rules in use.
    init(_ file: String, app: String, base: String?, current: String?, replacesBoxes: Bool) {
        self.app = app
        self.file = file
        changes = []
        guard let base, let current else {
            (content, note, problems) = (file, nil, [])
            return
        }
        let name = ServerModel.ruleFile(app)
        let merge: MatrixMerge
        do throws(MatrixEditError) {
            merge = try MatrixMerge(base: base, current: current, new: file, file: name)
        } catch {
            content = file
            note = replacesBoxes ? "Took the file as it is." : nil
            problems =
                replacesBoxes
                ? []
                : [
                    "The stored rules of \(app) can't be read, so changes made in the admin server can't be kept: "
                        + "\(error) To use the file as it is, pass --replace-boxes."
                ]
            return
        }
        let isUnchanged = base.hasBytes(of: file)
        let isEdited = !file.hasBytes(of: current) && RuleText.differBeyondBoxes(current, base, file: name)
        if replacesBoxes {
            content = file
            problems = []
            // With an unchanged file there is nothing to merge: any difference from it is something that the file
            // replaces.
            let dropped =
                isUnchanged
                ? Self.changes(from: base, to: current, name)
                : merge.kept + (merge.lost + merge.returning).map(\.change)
            let edits =
                isEdited ? ["Took the file as it is and dropped rules that were written in the admin server."] : []
            let boxes = dropped.isEmpty ? [] : ["Took the file as it is and dropped \(Self.list(dropped))"]
            note = (edits + boxes).isEmpty ? nil : (edits + boxes).joined(separator: "\n")
        } else {
            content = merge.text
            let own =
                isEdited && isUnchanged
                ? [
                    "Kept rules that were written in the admin server since this file was applied. To use the file as "
                        + "it is, pass --replace-boxes."
                ] : []
            let sentences = own + [Self.note(merge)].compactMap(\.self)
            note = sentences.isEmpty ? nil : sentences.joined(separator: "\n")
            // An unchanged file leaves everything as it is.
            let isOverwriting = isEdited && !isUnchanged && RuleText.differBeyondBoxes(current, file, file: name)
            problems =
                (isOverwriting
                    ? [
                        "The rules of \(app) were changed in the admin server beyond boxes and roles, and the new "
                            + "ones would undo that. Take the newest version from the panel's history and apply it "
                            + "first, then the new rules. Or use the file as it is, with --replace-boxes."
                    ] : [])
                + merge.returning.map { loss in
                    "\(loss.change): this was changed in the admin server, and the new rules of \(app) would undo it. "
                        + "\(loss.reason) Or use the file as it is, with --replace-boxes."
                }
        }
    }

    private static func changes(from base: String, to current: String, _ name: String) -> [MatrixChange] {
        guard let old = try? RuleText(base, file: name), let new = try? RuleText(current, file: name) else { return [] }
        return new.matrix.changes(since: old.matrix)
    }

    private static func note(_ merge: MatrixMerge) -> String? {
        var sentences = merge.kept.isEmpty ? [] : ["Kept \(list(merge.kept))"]
        sentences += merge.lost.map { "Not kept, though changed in the admin server: \($0)" }
        return sentences.isEmpty ? nil : sentences.joined(separator: "\n")
    }

    private static func list(_ changes: [MatrixChange]) -> String {
        let areBoxes = changes.allSatisfy { change in
            switch change {
            case .box, .userBox: true
            case .added, .removed: false
            }
        }
        let one = changes.count == 1
        let what =
            areBoxes
            ? (one ? "box that was changed" : "boxes that were changed")
            : (one ? "change that was made" : "changes that were made")
        let names = changes.map(\.description).joined(separator: "; ")
        return "\(changes.count) \(what) in the admin server: \(names)."
    }
}
