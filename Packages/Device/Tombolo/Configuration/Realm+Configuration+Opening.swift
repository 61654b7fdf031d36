internal import Foundation
internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSQLiteStore

extension Realm.Configuration {
    /// - Throws: ``Realm/Error`` naming two properties that can't both be set.
    func requireConsistency() throws(Realm.Error) {
        guard readOnly else { return }
        let other: String? =
            if deleteRealmIfMigrationNeeded {
                "deleteRealmIfMigrationNeeded"
            } else if shouldCompactOnLaunch != nil {
                "shouldCompactOnLaunch"
            } else if inMemoryIdentifier != nil {
                "inMemoryIdentifier"
            } else {
                nil
            }
        if let other { throw Realm.Error(.invalidInput, "Cannot set `\(other)` when `readOnly` is set.") }
    }

    /// Opens the file, creating or migrating it if needed.
    func openFile(_ path: String, schema: Schema, types: [Object.Type], isInMemory: Bool) throws -> StoreFile {
        try OpenFile.alone(path) { try openAlone(path, schema, types, isInMemory) }
    }

    /// Whether the file can't be opened because of its classes or schema version. Call this only while nobody else is
    /// opening the file.
    func isMismatched(_ path: String, _ schema: Schema, _ types: [Object.Type], isInMemory: Bool) throws -> Bool {
        do {
            _ = try openAlone(path, schema, types, isInMemory)
            return false
        } catch {
            guard Realm.Error(wrapping: error).code == .schemaMismatch else { throw error }
            return true
        }
    }

    private func openAlone(
        _ path: String, _ schema: Schema, _ types: [Object.Type], _ isInMemory: Bool
    ) throws -> StoreFile {
        let use = try OpenFile(path, OpenFile.Settings(self))
        try requireUsableKey(path, schema)
        if let seedFilePath, !isInMemory, !readOnly, use.isFirst {
            guard !isSynced else {
                throw Realm.Error(
                    .invalidInput,
                    "A synced Realm can't start from a seed file, because two devices would then share one identity.")
            }
            try SeedFile.copy(seedFilePath, to: path)
        }
        var generator = SystemRandomNumberGenerator()
        let file = try StoreFile(
            path: path, schema: schema,
            options: StoreOptions(
                isSynced: isSynced,
                partition: syncConfiguration.map { .named($0.partition?.fileName) } ?? .any,
                schemaVersion: schemaVersion, isReadOnly: readOnly,
                durability: isInMemory ? .off : .full, encryptionKey: encryptionKey, migration: plan(types),
                refusesMigration: deleteRealmIfMigrationNeeded && !isSynced,
                shouldCompact: use.isFirst ? shouldCompactOnLaunch : nil),
            newClient: .random(using: &generator))
        file.use = use
        return file
    }

    /// Refuses a key if neither the classes nor the file have an encrypted property.
    private func requireUsableKey(_ path: String, _ schema: Schema) throws {
        guard encryptionKey != nil, !schema.classes.contains(where: { $0.columns.contains(where: \.isEncrypted) }),
            try !FileInspection.hasEncryptedProperties(path)
        else { return }
        throw Realm.Error(
            .invalidInput,
            "The configuration has an encryptionKey, but no property of its classes is encrypted. The key encrypts "
                + "properties declared with @Persisted(encrypted: true), not the whole file: declare some, or omit the "
                + "key.")
    }

    private func plan(_ types: [Object.Type]) -> LocalMigrationPlan {
        let block: (@Sendable (LocalMigration, UInt64) throws -> Void)? = migrationBlock.map { block in
            { @Sendable store, version in try Migration.run(block, on: store, from: version) }
        }
        return LocalMigrationPlan(
            initialValue: { className, property in InitialValues.value(className, property, types) }, block: block,
            onStep: onMigrationStep)
    }
}

/// The declared default values of a class's properties.
enum InitialValues {
    /// The declared value, or nil if there is none. Identifiers have none, because every object gets its own. A date
    /// without a declared value has none either, because the time of the object's creation is unknown.
    /// - Parameter className: `Person`, or `Person.rooms` for the elements of a list.
    static func value(_ className: String, _ property: String, _ types: [Object.Type]) -> Value? {
        let path = className.split(separator: ".").map(String.init)
        let names = property.split(separator: ".").map(String.init)
        guard let type = types.first(where: { String(describing: $0) == path.first }) else { return nil }
        var layout = ObjectClass.of(type)
        for name in path.dropFirst() + names.dropLast() {
            guard let target = layout.property(named: name)?.valueType._targetClass, target is EmbeddedObject.Type
            else { return nil }
            layout = ObjectClass.of(target)
        }
        guard let last = names.last, let property = layout.property(named: last), case .column = property.slot else {
            return nil
        }
        switch property.valueType._propertyType {
        case .objectId, .uuid, .link: return nil
        default:
            let sample = layout.type.init()
            if case .date = property.valueType._propertyType, !property.hasValue(in: sample) { return nil }
            return property.unmanagedValue(of: sample).value._tomboloValue
        }
    }
}
