public import Foundation
internal import TomboloModel
internal import TomboloSQLiteStore

/// Operations on a Realm's file.
extension Realm {
    /// Whether the configuration's file exists.
    public static func fileExists(for configuration: Configuration) -> Bool {
        configuration.fileURL.map { FileManager.default.fileExists(atPath: $0.path) } ?? false
    }

    /// Deletes a configuration's file and everything that belongs to it, including edits not yet uploaded, and ends its
    /// ``SyncSession``. Before you call it, close all Realms of the file in this process and release everything frozen.
    /// - Returns: whether the file existed.
    /// - Throws: ``Realm/Error`` with the code `alreadyOpen` if the file is still in use.
    @discardableResult
    public static func deleteFiles(for configuration: Configuration) throws -> Bool {
        guard let path = configuration.fileURL.map(RealmFiles.path), FileManager.default.fileExists(atPath: path) else {
            return false
        }
        try RealmCache.delete(path)
        return true
    }

    /// Writes what this Realm shows into a new, compacted file: a backup, or a ``Configuration/seedFilePath``. The copy
    /// of a synced Realm is a local file. Can't be called in a write transaction.
    /// - Parameter encryptionKey: another key for the copy's encrypted properties, or nil for this Realm's key.
    /// - Throws: ``Realm/Error`` with the code `fileExists` if the file already exists (it stays unchanged), or
    ///   `fileNotFound` if its folder doesn't exist.
    public func writeCopy(toFile fileURL: URL, encryptionKey: Data? = nil) throws {
        var configuration = core.configuration
        configuration.syncConfiguration = nil
        configuration.keepsUploadQueue = false
        configuration.fileURL = fileURL
        configuration.encryptionKey = encryptionKey ?? core.configuration.encryptionKey
        try writeCopy(configuration: configuration)
    }

    /// Writes what this Realm shows into another configuration's file, with that configuration's encryption key.
    /// - Throws: the same errors as ``writeCopy(toFile:encryptionKey:)``.
    public func writeCopy(configuration: Configuration) throws {
        core.confinement.check()
        guard !core.isInWrite else {
            throw Realm.Error(.invalidInput, "A Realm cannot be copied inside a write transaction: commit it first.")
        }
        guard let url = configuration.fileURL else {
            throw Realm.Error(.invalidInput, "A copy of a Realm needs a fileURL; it can't be in memory.")
        }
        guard !configuration.isSynced else {
            throw Realm.Error(
                .invalidInput,
                "A copy can't be a synced file, because two devices would then share one identity. Omit the "
                    + "syncConfiguration.")
        }
        let path = RealmFiles.path(of: url)
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard FileManager.default.fileExists(atPath: folder) else {
            throw Realm.Error(.fileNotFound, "The folder '\(folder)' for the copy doesn't exist: create it first.")
        }
        do {
            try core.query { Result { try FileCopy.write(core.file, to: path, key: configuration.encryptionKey) } }
                .get()
        } catch {
            throw Realm.Error(wrapping: error)
        }
    }

    /// Migrates a configuration's file to its classes and schema version, as opening it would.
    /// - Throws: ``Realm/Error``.
    public static func performMigration(for configuration: Configuration = .defaultConfiguration) throws {
        _ = try Realm(configuration: configuration)
    }
}

/// The schema version of a file.
/// - Throws: ``Realm/Error``: `fileNotFound` if it doesn't exist, `invalidDatabase` if it isn't a Tombolo file.
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
