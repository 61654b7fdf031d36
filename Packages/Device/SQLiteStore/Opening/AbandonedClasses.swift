internal import TomboloModel

/// Classes that the app no longer has, and whose objects queued changesets touch. Nothing shows those edits any more:
/// what the file keeps of the classes is the server's. The queue itself stays as it is: an app update must not change a
/// changeset that the server may have taken already.
struct AbandonedClasses {
    private let old: Schema
    private let names: [String]

    /// - Parameters:
    ///   - stored: the classes as the file has them.
    ///   - names: those of them that are abandoned.
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
