extension Value {
    /// Roughly what the value takes in memory, in bytes.
    public var byteCount: Int {
        switch self {
        case .string(let text): 24 + text.utf8.count
        case .data(let data): 24 + data.count
        default: 24
        }
    }
}

extension Row {
    /// The most bytes of text and data of one synced row together: a value of ``Value/maximumByteCount`` and some more.
    /// A row travels in one message.
    public static let maximumContentByteCount = 18 << 20

    /// Roughly what the row takes in memory, in bytes.
    public var byteCount: Int { values.reduce(32) { $0 + $1.byteCount } }
}
