public import Foundation

extension FileManager {
    /// Removes a folder in which files are still being created and removed: sessions that end close their files a moment later, and
    /// SQLite then removes its logs itself.
    public func removeBusyFolder(at folder: URL) async throws {
        for _ in 0..<6_000 {
            do {
                return try removeItem(at: folder)
            } catch {
                guard fileExists(atPath: folder.path) else { return }
                try await Task.sleep(for: .milliseconds(20))
            }
        }
        try removeItem(at: folder)
    }
}
