import Foundation

/// A real server's answers. They are in a folder next to the repository, which isn't always present.
enum Fixtures {
    static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "shared/fixtures/susi")

    static var areHere: Bool { FileManager.default.fileExists(atPath: folder.path) }

    static func data(_ name: String) throws -> Data {
        try Data(contentsOf: folder.appending(path: "susi-\(name).json"))
    }

    static var all: [URL] {
        get throws {
            try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
                .filter { $0.pathExtension == "json" }.sorted { $0.path < $1.path }
        }
    }
}
