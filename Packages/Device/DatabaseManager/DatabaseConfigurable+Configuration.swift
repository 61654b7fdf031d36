public import Tombolo

extension DatabaseConfigurable {
    /// The database's Realm, or nil if it can't be opened. ``openRealm(with:)`` throws the reason.
    public func realm(with memoryType: RealmMemoryType) -> Realm? { try? openRealm(with: memoryType) }

    /// Opens the database.
    /// - Throws: ``RealmErrorType``: `configurationFailure` if the name or identifier is invalid; `realmIsEmpty` if the
    ///   Realm can't be opened, with the `Realm.Error` as the reason.
    public func openRealm(with memoryType: RealmMemoryType) throws(RealmErrorType) -> Realm {
        let configuration = try configuration(memoryType: memoryType)
        do {
            return try Realm(configuration: configuration)
        } catch {
            throw RealmErrorType(.realmIsEmpty, reason: error as? Realm.Error ?? Realm.Error(.fail, "\(error)"))
        }
    }

    private func configuration(memoryType: RealmMemoryType) throws(RealmErrorType) -> Realm.Configuration {
        guard let path else {
            throw RealmErrorType(.configurationFailure, reason: Realm.Error(.invalidInput, schemaNameProblem ?? ""))
        }
        var configuration = Realm.Configuration(
            fileURL: path, readOnly: false, schemaVersion: absolutelySchemaVersion,
            migrationBlock: absolutelyMigrationBlock, objectTypes: objectTypes)
        if case .inMemory = memoryType {
            guard let identifier = memoryType.associated, !identifier.isEmpty else {
                throw RealmErrorType(
                    .configurationFailure,
                    reason: Realm.Error(
                        .invalidInput, "An in-memory database needs an identifier: .inMemory(identifier: \"test\")."))
            }
            // Databases with different names have their own versions and tables, in memory as on disk.
            configuration.inMemoryIdentifier = "\(fileName)/\(identifier)"
        }
        return configuration
    }
}
