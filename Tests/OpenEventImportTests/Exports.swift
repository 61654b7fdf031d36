import Foundation

/// Where exports come from: the sample that ships with the project, real conferences if the shared folder exists, and those that a
/// test writes.
enum Exports {
    static let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static let sample = repository.appendingPathComponent("Apps/Conference/Tool/Samples/TideConf").path

    static func shared(_ name: String) -> String {
        repository.deletingLastPathComponent().appendingPathComponent("shared/data/open-event/\(name)").path
    }

    /// False in a clone without the folder. Tests that need it are then reported as skipped.
    static let haveShared = FileManager.default.fileExists(atPath: shared("OSCON17"))

    /// Runs `body` with a folder that contains these files, and removes the folder.
    static func withFolder<Result>(_ files: [String: String], _ body: (String) throws -> Result) throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("export-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for (name, text) in files {
            try Data(text.utf8).write(to: folder.appendingPathComponent(name))
        }
        return try body(folder.path)
    }

    static let event = """
        {"id": 7, "name": "Test", "starts-at": "2030-01-01T09:00:00Z", "ends-at": "2030-01-02T09:00:00Z",
         "timezone": "Europe/Berlin", "state": "published", "privacy": "public"}
        """
}
