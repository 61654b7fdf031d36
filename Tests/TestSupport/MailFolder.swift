public import Foundation

/// Where a server writes its mails, one file each. The server creates the folder with the first one.
public struct MailFolder: Sendable {
    public let url = FileManager.default.temporaryDirectory.appending(path: "mail-\(UUID().uuidString)")

    public init() {}

    public func remove() { try? FileManager.default.removeItem(at: url) }

    /// The mails so far, oldest first.
    public func mails() -> [String] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: url.path())) ?? []
        return files.sorted().compactMap { try? String(contentsOf: url.appending(path: $0), encoding: .utf8) }
            .filter { !$0.isEmpty }
    }

    /// Waits for this many mails, and returns all that have arrived by then, oldest first.
    public func mails(_ count: Int) async throws -> [String] {
        while true {
            let found = mails()
            if found.count >= count { return found }
            try await Task.sleep(for: .milliseconds(10))
        }
    }
}
