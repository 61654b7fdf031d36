import TomboloModel

/// What is to be said of the documents that a migration stores.
struct PlannedDocuments: Hashable, Sendable {
    /// What is different in the models.
    var changes: [ModelChange] = []
    /// What is different in the permissions, of rules that somebody edited in an admin server.
    var permissions: [String] = []
    /// What becomes of changes that were made in an admin server.
    var notes: [String] = []
    /// Why the documents can't be stored.
    var problems: [String] = []
    /// What in the rules has no effect.
    var ruleNotes: [String] = []
    /// The models to be stored, by app.
    var models: [String: ModelDocument] = [:]
    /// Of the newest document that there was.
    var version: Int64 = 0
}
