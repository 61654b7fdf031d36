import Foundation

/// The files that steps begin with. A ``Realm`` makes them; each process gets a copy of its own.
struct ObjectStoreFiles: Sendable {
    private let folder: TemporaryFolder
    private let definitions: [String]
    /// Objects that are made in one transaction.
    private static let batchSize = 100_000

    init(_ folder: TemporaryFolder, _ sizes: Sizes.ObjectStore) throws {
        self.folder = folder
        _ = try Self.make(folder.path("nothing"), count: 0)
        definitions = try RawPeople.definitions(in: folder.path("nothing"))
        let contents = Set(sizes.steps.map(\.content))
        if contents.contains(.people) { try Self.make(folder.path("people"), count: sizes.objectCount) }
        if contents.contains(.manyPeople) { try Self.make(folder.path("many"), count: sizes.largeObjectCount) }
    }

    /// Closes the file again, so that all of it is in one file.
    private static func make(_ path: String, count: Int) throws {
        let store = try TomboloPeople(path: path)
        for first in stride(from: 0, to: count, by: batchSize) {
            try store.insert((first..<min(first + batchSize, count)).map(PersonValues.init))
        }
    }

    /// A file with this content: the same for both sides, but that a new one has only the table of people on the raw
    /// side, and that a synced one is made by its user.
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
        // Else the first commit of whoever uses it pays for writing the copy.
        if FileManager.default.fileExists(atPath: path) {
            try FileHandle(forUpdating: URL(filePath: path)).synchronize()
        }
        return path
    }

    func delete(_ path: String) {
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }
}
