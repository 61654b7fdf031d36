internal import Foundation
internal import Synchronization

#if canImport(Security)
    internal import Security
#endif

/// Keeps an app's users between launches: in the keychain on Apple platforms, elsewhere in a file that only its owner
/// may read.
struct UserStore: Hashable, Sendable {
    /// The users of an app at one gateway.
    struct Content: Codable, Equatable {
        /// The device's ID at the gateway.
        var deviceID: String?
        var currentUser: String?
        /// In the order of their first login.
        var users: [KeptUser] = []
        /// The IDs of users whose files are to be deleted the next time the app starts.
        var removed: [String] = []
    }

    struct KeptUser: Codable, Equatable {
        var id: String
        var isLoggedIn: Bool
        var accessToken: String?
        var expiresAt: Date?
        var refreshToken: String?
        var provider: String
        var identities: [UserIdentity]
        var profile: [String: AnyBSON]
        var customData: [String: AnyBSON]
    }

    /// The app's folder. Each user's Realms have a subfolder of their own.
    let folder: URL
    private let name: String
    private let lockPatience: Duration

    /// - Parameter lockPatience: how long a change waits while another process makes one.
    init(appID: String, configuration: AppConfiguration, lockPatience: Duration = .seconds(2)) {
        self.lockPatience = lockPatience
        let root = configuration.rootDirectory ?? AppFolder.url
        folder = root.appending(path: Self.fileName(appID))
        // The same ID at another gateway is a different user.
        name = "users-\(Self.fileName(configuration.baseURL ?? AppConfiguration.developmentURL)).json"
    }

    /// Encodes any string as a file name.
    private static func fileName(_ text: String) -> String {
        let allowed = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")
        let name = text.addingPercentEncoding(withAllowedCharacters: allowed) ?? "app"
        return name.hasPrefix(".") ? "%2E" + name.dropFirst() : name
    }

    func folder(ofUser id: String) -> URL { folder.appending(path: Self.fileName(id)) }

    /// The stored users, or nil if the file doesn't exist or can't be read.
    func load() -> Content? { read().flatMap { try? JSONDecoder().decode(Content.self, from: $0) } }

    /// - Throws: ``AppError`` if the users can't be saved.
    func save(_ content: Content) throws {
        do {
            try write(JSONEncoder().encode(content))
        } catch {
            throw AppError(.unknown, "Can't save the app's users in '\(folder.path)': \(error.localizedDescription)")
        }
    }

    // MARK: Changing

    /// Calls `body`, which reads the users and saves them, while no other process of the app (such as its extension)
    /// does the same. A process that is suspended while it holds the lock must not block logins. So `body` is called
    /// without the lock if waiting takes too long, and also if the lock's file can't be created.
    func exclusively<Result>(_ body: () throws -> Result) rethrows -> Result {
        let descriptor = lock()
        defer { if let descriptor { close(descriptor) } }
        return try body()
    }

    /// - Returns: a descriptor that holds the lock until it's closed, or nil if the lock can't be acquired.
    private func lock() -> Int32? {
        try? makeFolder()
        let path = folder.appending(path: ".\(name).lock").path
        let descriptor = open(path, O_CREAT | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
        let end = ContinuousClock.now + lockPatience
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard [EWOULDBLOCK, EINTR].contains(errno), ContinuousClock.now < end else {
                close(descriptor)
                return nil
            }
            usleep(10_000)
        }
        return descriptor
    }

    private func makeFolder() throws {
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    #if canImport(Security)
        /// The keychain has no drafts.
        func deleteDrafts() {}

        private var query: [CFString: Any] {
            [
                kSecClass: kSecClassGenericPassword, kSecAttrService: "tombolo.\(folder.lastPathComponent)",
                kSecAttrAccount: name,
            ]
        }

        private func read() -> Data? {
            var query = query
            query[kSecReturnData] = true
            var item: CFTypeRef?
            guard SecItemCopyMatching(query as CFDictionary, &item) == errSecSuccess else { return nil }
            return item as? Data
        }

        private func write(_ data: Data) throws {
            let values: [CFString: Any] = [
                kSecValueData: data, kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ]
            var status = SecItemUpdate(query as CFDictionary, values as CFDictionary)
            if status == errSecItemNotFound {
                status = SecItemAdd(query.merging(values) { _, new in new } as CFDictionary, nil)
            }
            if status != errSecSuccess { throw NSError(domain: NSOSStatusErrorDomain, code: Int(status)) }
        }
    #else
        private var file: URL { folder.appending(path: name) }

        private func read() -> Data? { try? Data(contentsOf: file) }

        private var draftPrefix: String { ".\(name)-" }
        /// The age in seconds at which a draft counts as abandoned.
        private static let draftLifetime: TimeInterval = 600

        /// Deletes drafts that killed processes left behind. They contain tokens.
        func deleteDrafts() {
            let manager = FileManager.default
            for name in (try? manager.contentsOfDirectory(atPath: folder.path)) ?? []
            where name.hasPrefix(draftPrefix) && UUID(uuidString: String(name.dropFirst(draftPrefix.count))) != nil {
                let path = folder.appending(path: name).path
                let time = try? manager.attributesOfItem(atPath: path)[.modificationDate] as? Date
                if let time, Date().timeIntervalSince(time) > Self.draftLifetime { unlink(path) }
            }
        }

        /// Replaces the file atomically: a process killed meanwhile leaves either the old or the new file.
        private func write(_ data: Data) throws {
            let manager = FileManager.default
            try makeFolder()
            let draft = folder.appending(path: "\(draftPrefix)\(UUID().uuidString)")
            guard manager.createFile(atPath: draft.path, contents: data, attributes: [.posixPermissions: 0o600]) else {
                try? manager.removeItem(at: draft)
                throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: draft.path])
            }
            guard rename(draft.path, file.path) == 0 else {
                let reason = String(cString: strerror(errno))
                try? manager.removeItem(at: draft)
                throw CocoaError(.fileWriteUnknown, userInfo: [NSLocalizedDescriptionKey: reason])
            }
        }
    #endif
}
