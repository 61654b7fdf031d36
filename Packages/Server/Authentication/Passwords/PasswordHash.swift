/// What is stored for a password: enough to check it, but not enough to know it.
public struct PasswordHash: Sendable {
    public static let saltByteCount = 16
    public static let keyByteCount = 32

    public let parameters: PasswordParameters
    public let salt: [UInt8]
    /// The derived key.
    public let key: [UInt8]

    public init(parameters: PasswordParameters, salt: [UInt8], key: [UInt8]) {
        self.parameters = parameters
        self.salt = salt
        self.key = key
    }

    /// Compares all bytes, wherever the first difference is, so that the time reveals nothing.
    static func isEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        var difference: UInt8 = 0
        for index in left.indices { difference |= left[index] ^ right[index] }
        return difference == 0
    }
}

extension PasswordHash: CustomStringConvertible, CustomReflectable {
    /// Nothing of the hash: it must not end up in logs.
    public var description: String { "<scrypt hash>" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
