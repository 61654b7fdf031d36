import TomboloModel

/// What to report about the documents that a migration stores.
struct PlannedDocuments: Hashable, Sendable {
    /// Differences in the models.
    var changes: [ModelChange] = []
    /// Differences in the permissions, for rules that were edited in an admin server.
    var permissions: [String] = []
    /// What happens to changes that were made in an admin server.
    var notes: [String] = []
    /// Why the documents can't be stored.
    var problems: [String] = []
    /// Parts of the rules that have no effect.
    var ruleNotes: [String] = []
    /// The models to store, by app.
    var models: [String: ModelDocument] = [:]
    /// The version of the newest existing document.
    var version: Int64 = 0
}
