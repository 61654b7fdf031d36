import Foundation

/// A folder for device files; deleted by ``remove()``.
struct TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory
            .appending(path: "tombolo-bench-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    func path(_ name: String) -> String { url.appending(path: name).path }

    func remove() { try? FileManager.default.removeItem(at: url) }

    /// Runs `body` with a folder and deletes it afterwards.
    nonisolated(nonsending) static func with<Result>(
        _ body: nonisolated(nonsending) (TemporaryFolder) async throws -> Result
    ) async throws -> Result {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        return try await body(folder)
    }
}
