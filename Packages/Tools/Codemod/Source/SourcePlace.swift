/// The line and column of a byte, counted from 1. Columns are in Unicode scalars.
struct SourcePlace {
    private(set) var line = 1
    private(set) var column = 1
    private var offset = 0

    /// Advances to a byte that isn't before the last one.
    mutating func advance(to target: Int, in bytes: [UInt8]) {
        let hasMark = bytes.starts(with: [0xEF, 0xBB, 0xBF])
        while offset < min(target, bytes.count) {
            let byte = bytes[offset]
            offset += 1
            let isPair = byte == UInt8(ascii: "\r") && offset < bytes.count && bytes[offset] == UInt8(ascii: "\n")
            if byte == UInt8(ascii: "\n") || (byte == UInt8(ascii: "\r") && !isPair) {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80, !(hasMark && offset == 1) {
                column += 1
            }
        }
    }
}
