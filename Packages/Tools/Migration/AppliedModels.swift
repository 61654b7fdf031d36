import PostgresClient
import TomboloModel
import TomboloServerModel

/// An app's models in the form to store: merged over the current ones, along with anything added in an admin server
/// since a tool last applied models.
struct AppliedModels: Sendable {
    /// The models as given.
    let file: ModelDocument
    /// The models to store.
    let content: ModelDocument
    /// The differences from the current models.
    let changes: [ModelChange]
    /// What happened to changes that were made in an admin server, for the documents' history. Nil if there is
    /// nothing to report.
    let note: String?
    /// Whether the content includes additions made in an admin server.
    let keepsAdditions: Bool

    /// - Parameters:
    ///   - base: the models that a tool last applied, or nil to keep nothing that was added since.
    ///   - current: the models in use.
    ///   - isAdditive: the opposite of `retiringMissing` in `ModelDocument.merged(over:retiringMissing:keeping:)`.
    /// - Throws: `ModelDocumentError` for models that can't follow the current ones.
    init(
        _ file: ModelDocument, base: ModelDocument?, current: ModelDocument?, isAdditive: Bool
    ) throws(ModelDocumentError) {
        self.file = file
        guard let current else {
            (content, changes, note, keepsAdditions) = (file, [], nil, false)
            return
        }
        let added = base.map { current.additions(since: $0) } ?? .empty
        content = try file.merged(over: current, retiringMissing: !isAdditive, keeping: added)
        changes = content.changes(since: current)
        let trash = content.classes.filter { $0.isTrashable && file[$0.name]?.isTrashable == false }.map(\.name)
        guard let base else {
            (note, keepsAdditions) = (Self.note(kept: [], undone: [], trash: trash), false)
            return
        }
        let kept = content.additions(since: file).names
        keepsAdditions = !kept.isEmpty
        note = Self.note(kept: kept, undone: Self.undone(changes, of: current.changes(since: base)), trash: trash)
    }

    /// The changes that affect something that was changed in an admin server.
    private static func undone(_ changes: [ModelChange], of edits: [ModelChange]) -> [ModelChange] {
        let places = Set(edits.map(\.place))
        return changes.filter { places.contains($0.place) }
    }

    /// - Parameter trash: classes that keep their trash, although they have none in the file.
    private static func note(kept: [String], undone: [ModelChange], trash: [String]) -> String? {
        var sentences: [String] = []
        if !kept.isEmpty {
            let what = kept.count == 1 ? "1 addition that was" : "\(kept.count) additions that were"
            sentences.append(
                "Kept \(what) made in the admin server: \(kept.joined(separator: "; ")). Add "
                    + "\(kept.count == 1 ? "it" : "them") to the app's classes.")
        }
        sentences += undone.map { "Not kept, though changed in the admin server: \($0)" }
        if !trash.isEmpty {
            let keeps = trash.count == 1 ? "keeps its" : "keep their"
            sentences.append(
                "\(trash.sorted().joined(separator: ", ")) \(keeps) trash: without it, the objects in it would be "
                    + "visible again."
            )
        }
        return sentences.isEmpty ? nil : sentences.joined(separator: "\n")
    }
}
