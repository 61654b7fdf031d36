internal import Foundation
internal import TomboloSQLiteStore

/// The file that a new Realm is copied from.
enum SeedFile {
    /// Copies the seed to a path where no file exists. Other processes see the whole copy or none. If several copy at
    /// once, the first copy stays.
    /// - Throws: ``Realm/Error`` naming the seed.
    static func copy(_ seed: URL, to path: String) throws {
        guard !FileManager.default.fileExists(atPath: path) else { return UnfinishedFile.deleteLeftovers(of: path) }
        guard FileManager.default.fileExists(atPath: seed.path) else {
            throw Realm.Error(
                .fileNotFound, "The seed file '\(seed.path)' does not exist: check seedFilePath of the configuration.")
        }
        try UnfinishedFile.make(.seed, for: path) { copy in
            do {
                try PrivateFile.copy(seed.path, to: copy)
                // Holds content that hasn't reached the file itself yet.
                if FileManager.default.fileExists(atPath: seed.path + "-wal") {
                    try PrivateFile.copy(seed.path + "-wal", to: copy + "-wal")
                }
            } catch {
                throw Realm.Error(
                    .fileAccess,
                    "Can't copy the seed file '\(seed.path)' to '\(path)': \(error.localizedDescription)")
            }
            try FileCopy.settle(copy)
            _ = try FileCopy.publish(copy, at: path)
        }
    }
}
