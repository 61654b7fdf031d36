internal import Foundation
internal import TomboloSQLiteStore

/// The file that a Realm begins with.
enum SeedFile {
    /// Copies the seed to a path without a file. Others see the whole copy or none; of several who do it at the same
    /// time the first one's stays.
    /// - Throws: ``Realm/Error`` naming the seed.
    static func copy(_ seed: URL, to path: String) throws {
        guard !FileManager.default.fileExists(atPath: path) else { return }
        guard FileManager.default.fileExists(atPath: seed.path) else {
            throw Realm.Error(
                .fileNotFound, "The seed file '\(seed.path)' does not exist: check seedFilePath of the configuration.")
        }
        let copy = "\(path).seed-\(UUID().uuidString)"
        defer { RealmFiles.delete(at: copy) }
        do {
            try FileManager.default.copyItem(atPath: seed.path, toPath: copy)
            // What has not reached the file itself yet.
            if FileManager.default.fileExists(atPath: seed.path + "-wal") {
                try FileManager.default.copyItem(atPath: seed.path + "-wal", toPath: copy + "-wal")
            }
            // A bundled file may be read-only, and its copy with it.
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: copy)
        } catch {
            throw Realm.Error(
                .fileAccess,
                "The seed file '\(seed.path)' cannot be copied to '\(path)': \(error.localizedDescription)")
        }
        try FileCopy.settle(copy)
        _ = try FileCopy.publish(copy, at: path)
    }
}
