extension Value {
    /// The approximate size of the value in memory, in bytes.
    public var byteCount: Int {
        switch self {
        case .string(let text): 24 + text.utf8.count
        case .data(let data): 24 + data.count
        default: 24
        }
    }
}

extension Row {
    /// The maximum total size, in bytes, of all strings and data in a synced row. It allows one value of
    /// ``Value/maximumByteCount`` and a little more, because a row travels in one message.
    public static let maximumContentByteCount = 18 << 20

    /// The approximate size of the row in memory, in bytes.
    public var byteCount: Int { values.reduce(32) { $0 + $1.byteCount } }
}
