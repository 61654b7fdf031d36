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
    /// Roughly what the row takes in memory, in bytes.
    public var byteCount: Int { values.reduce(32) { $0 + $1.byteCount } }
}
