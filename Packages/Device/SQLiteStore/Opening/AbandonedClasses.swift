internal import TomboloModel

/// Classes that the app no longer has but whose objects are in queued changesets. Those edits are no longer shown: the
/// file restores the server's rows of these classes. The queue itself doesn't change, because an app update mustn't
/// alter a changeset that the server may already have.
struct AbandonedClasses {
    private let old: Schema
    private let names: [String]

    /// - Parameters:
    ///   - stored: the classes in the file.
    ///   - names: the abandoned classes.
    init(_ names: [String], in stored: StoredSchema) throws {
        self.names = names
        old = try stored.schema()
    }

    func restore(_ connection: SQLiteConnection) throws {
        for name in names {
            guard let index = old.index(of: name) else { continue }
            for statement in TableLayout(schema: old, classIndex: index).restore { try connection.run(statement) }
        }
    }
}
