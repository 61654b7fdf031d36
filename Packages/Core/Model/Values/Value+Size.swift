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
    /// The maximum size in bytes of all text and data of a synced row: one value of ``Value/maximumByteCount`` and some
    /// more, since a row travels in one message.
    public static let maximumContentByteCount = 18 << 20

    /// The approximate size of the row in memory, in bytes.
    public var byteCount: Int { values.reduce(32) { $0 + $1.byteCount } }
}
