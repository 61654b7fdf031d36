public import Foundation

/// Where a server puts its mails, a file for each. The server makes the folder with the first one.
public struct MailFolder: Sendable {
    public let url = FileManager.default.temporaryDirectory.appending(path: "mail-\(UUID().uuidString)")

    public init() {}

    public func remove() { try? FileManager.default.removeItem(at: url) }

    /// The mails that are there, oldest first.
    public func mails() -> [String] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: url.path())) ?? []
        return files.sorted().compactMap { try? String(contentsOf: url.appending(path: $0), encoding: .utf8) }
            .filter { !$0.isEmpty }
    }

    /// Waits for a number of mails, and returns all that are there by then, oldest first.
    public func mails(_ count: Int) async throws -> [String] {
        while true {
            let found = mails()
            if found.count >= count { return found }
            try await Task.sleep(for: .milliseconds(10))
        }
    }
}
