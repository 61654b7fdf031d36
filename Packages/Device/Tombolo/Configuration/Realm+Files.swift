public import Foundation
internal import TomboloModel
internal import TomboloSQLiteStore

/// What can be done with the file of a Realm.
extension Realm {
    /// Whether there is a file for the configuration.
    public static func fileExists(for configuration: Configuration) -> Bool {
        configuration.fileURL.map { FileManager.default.fileExists(atPath: $0.path) } ?? false
    }

    /// Deletes the file of a configuration and what belongs to it, edits that were not uploaded among them. No Realm of
    /// the process may have it open; its ``SyncSession`` ends.
    /// - Returns: whether there was one.
    /// - Throws: ``Realm/Error`` with the code `alreadyOpen`.
    @discardableResult
    public static func deleteFiles(for configuration: Configuration) throws -> Bool {
        guard let path = configuration.fileURL.map(RealmFiles.path), FileManager.default.fileExists(atPath: path) else {
            return false
        }
        try RealmCache.delete(path)
        return true
    }

    /// Writes what this Realm shows into a file of its own, compacted. It is a local file, also that of a synced Realm:
    /// for backups, and as the ``Configuration/seedFilePath`` of others. Not inside a write transaction.
    /// - Parameter encryptionKey: another key for the copy's encrypted properties; those of this Realm where nil.
    /// - Throws: ``Realm/Error`` with the code `fileExists` where there is a file, which is left alone, and
    ///   `fileNotFound` where there is no folder.
    public func writeCopy(toFile fileURL: URL, encryptionKey: Data? = nil) throws {
        var configuration = core.configuration
        configuration.syncConfiguration = nil
        configuration.keepsUploadQueue = false
        configuration.fileURL = fileURL
        configuration.encryptionKey = encryptionKey ?? core.configuration.encryptionKey
        try writeCopy(configuration: configuration)
    }

    /// Writes what this Realm shows into the file of another configuration: its place and its encryption key.
    /// - Throws: as ``writeCopy(toFile:encryptionKey:)`` does.
    public func writeCopy(configuration: Configuration) throws {
        core.confinement.check()
        guard !core.isInWrite else {
            throw Realm.Error(.invalidInput, "A Realm cannot be copied inside a write transaction: commit it first.")
        }
        guard let url = configuration.fileURL else {
            throw Realm.Error(.invalidInput, "The copy of a Realm needs a fileURL; it cannot be one in memory.")
        }
        guard !configuration.isSynced else {
            throw Realm.Error(
                .invalidInput,
                "A copy cannot be a synced file: two devices would be taken for the same one. Leave out the "
                    + "syncConfiguration.")
        }
        let path = RealmFiles.path(of: url)
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard FileManager.default.fileExists(atPath: folder) else {
            throw Realm.Error(.fileNotFound, "The folder '\(folder)' for the copy does not exist: make it first.")
        }
        do {
            try core.query { Result { try FileCopy.write(core.file, to: path, key: configuration.encryptionKey) } }
                .get()
        } catch {
            throw Realm.Error(wrapping: error)
        }
    }

    /// Brings the file of a configuration up to its classes and schema version, as opening it would.
    /// - Throws: ``Realm/Error``.
    public static func performMigration(for configuration: Configuration = .defaultConfiguration) throws {
        _ = try Realm(configuration: configuration)
    }
}

/// The schema version of the file at a place.
/// - Throws: ``Realm/Error``: `fileNotFound` where there is none, `invalidDatabase` where it is no Tombolo file.
public func schemaVersionAtURL(_ fileURL: URL, encryptionKey: Data? = nil) throws -> UInt64 {
    let path = RealmFiles.path(of: fileURL)
    guard FileManager.default.fileExists(atPath: path) else {
        throw Realm.Error(.fileNotFound, "'\(path)' does not exist.")
    }
    do {
        return try FileInspection.schemaVersion(path, key: encryptionKey)
    } catch {
        throw Realm.Error(wrapping: error)
    }
}
