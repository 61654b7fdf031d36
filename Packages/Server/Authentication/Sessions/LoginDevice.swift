public import TomboloModel

/// What a user's list of logins shows about a device. The device chooses all of it, so no decision is based on it.
public struct LoginDevice: Hashable, Sendable {
    /// The longest of each of these strings, in bytes of UTF-8.
    public static let maximumTextByteCount = 100

    /// Stays the same when the device logs in again. The server gives one to a device that has none.
    public let id: ObjectId
    /// The owner's name for it, such as `Ann's phone`.
    public let name: String?
    /// The operating system, with its version.
    public let platform: String?
    /// The app, with its version.
    public let app: String?

    /// - Parameters: strings are cut to ``maximumTextByteCount``; control characters are dropped.
    public init(id: ObjectId? = nil, name: String? = nil, platform: String? = nil, app: String? = nil) {
        self.id = id ?? .generate()
        self.name = Self.shown(name)
        self.platform = Self.shown(platform)
        self.app = Self.shown(app)
    }

    private static func shown(_ text: String?) -> String? {
        guard let text else { return nil }
        let plain = String(text.unicodeScalars.filter { $0.value >= 32 && $0.value != 127 }.map(Character.init))
        let short = plain.prefix(byteCount: maximumTextByteCount)
        return short.isEmpty ? nil : String(short)
    }
}
