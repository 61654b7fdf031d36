import Foundation

/// The files that steps begin with. A ``Realm`` creates them, and each process gets its own copy.
struct ObjectStoreFiles: Sendable {
    private let folder: TemporaryFolder
    private let definitions: [String]
    /// The number of objects created in one transaction.
    private static let batchSize = 100_000

    init(_ folder: TemporaryFolder, _ sizes: Sizes.ObjectStore) throws {
        self.folder = folder
        _ = try Self.make(folder.path("nothing"), count: 0)
        definitions = try RawPeople.definitions(in: folder.path("nothing"))
        let contents = Set(sizes.steps.map(\.content))
        if contents.contains(.people) { try Self.make(folder.path("people"), count: sizes.objectCount) }
        if contents.contains(.manyPeople) { try Self.make(folder.path("many"), count: sizes.largeObjectCount) }
    }

    /// Closes the file again, so that all data is in the main file.
    private static func make(_ path: String, count: Int) throws {
        let store = try TomboloPeople(path: path)
        for first in stride(from: 0, to: count, by: batchSize) {
            try store.insert((first..<min(first + batchSize, count)).map(PersonValues.init))
        }
    }

    /// A file with this content. It's the same for both sides, with two exceptions: on the raw side, a new file has
    /// only the table of people; and a synced file is created by its user.
    func copy(_ content: ObjectStoreStep.Content, _ side: ObjectStoreSide, isSynced: Bool) throws -> String {
        let path = folder.path("run-\(UUID().uuidString)")
        switch content {
        case .nothing:
            if side == .raw {
                _ = try RawPeople(path: path, definitions: definitions)
            } else if !isSynced {
                try FileManager.default.copyItem(atPath: folder.path("nothing"), toPath: path)
            }
        case .people: try FileManager.default.copyItem(atPath: folder.path("people"), toPath: path)
        case .manyPeople: try FileManager.default.copyItem(atPath: folder.path("many"), toPath: path)
        }
        // Otherwise the first commit would also have to wait for the copy to reach the disk.
        if FileManager.default.fileExists(atPath: path) {
            try FileHandle(forUpdating: URL(filePath: path)).synchronize()
        }
        return path
    }

    func delete(_ path: String) {
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }
}
