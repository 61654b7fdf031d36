/// Parses a server's bytes, however they are split.
///
/// ```text
/// +text CRLF                    simple        :number CRLF                   integer
/// -CODE text CRLF               error         $length CRLF bytes CRLF        bulk, $-1 CRLF for null
/// *count CRLF value…            array, *-1 CRLF for null
/// ```
package struct RedisReader: Sendable {
    /// The most bytes of a value, including everything in it.
    package static let maximumByteCount = 64 << 10
    /// The most values in an array. Published messages have three.
    static let maximumArrayCount = 16
    /// How deeply arrays may be nested.
    static let maximumDepth = 2
    /// The most characters kept of an error's code.
    static let maximumCodeCount = 32

    private var buffer: [UInt8] = []

    package init() {}

    /// - Returns: the values that are now complete.
    /// - Throws: ``RedisError`` `.violation`. The reader must not be used after that.
    package mutating func read(_ bytes: [UInt8]) throws(RedisError) -> [RedisValue] {
        buffer += bytes
        var values: [RedisValue] = []
        var start = 0
        while let (value, end) = try value(at: start, depth: 0) {
            values.append(value)
            start = end
        }
        buffer.removeFirst(start)
        guard buffer.count <= Self.maximumByteCount else {
            throw .violation("a value of more than \(Self.maximumByteCount) bytes")
        }
        return values
    }

    /// - Returns: the value that begins at `start` and the position after it, or nil if it isn't complete.
    private func value(at start: Int, depth: Int) throws(RedisError) -> (RedisValue, end: Int)? {
        guard start < buffer.count else { return nil }
        let kind = buffer[start]
        guard "+-:$*".utf8.contains(kind) else { throw .violation("a value that begins with byte \(kind)") }
        guard let (line, end) = try line(at: start + 1) else { return nil }
        switch kind {
        case UInt8(ascii: "+"): return (.simple(String(decoding: line, as: UTF8.self)), end)
        case UInt8(ascii: "-"):
            let word = line.prefix { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
            return (.error(code: String(decoding: word.prefix(Self.maximumCodeCount), as: UTF8.self)), end)
        case UInt8(ascii: ":"): return (.integer(try number(line)), end)
        case UInt8(ascii: "$"):
            guard let count = try count(line, most: Self.maximumByteCount) else { return (.bulk(nil), end) }
            guard buffer.count >= end + count + 2 else { return nil }
            guard buffer[end + count] == UInt8(ascii: "\r"), buffer[end + count + 1] == UInt8(ascii: "\n") else {
                throw .violation("bytes without a line end after them")
            }
            return (.bulk(Array(buffer[end..<end + count])), end + count + 2)
        default:
            guard depth < Self.maximumDepth else { throw .violation("arrays nested too deeply") }
            guard let count = try count(line, most: Self.maximumArrayCount) else { return (.array(nil), end) }
            var values: [RedisValue] = []
            var next = end
            for _ in 0..<count {
                guard let (value, end) = try value(at: next, depth: depth + 1) else { return nil }
                values.append(value)
                next = end
            }
            return (.array(values), next)
        }
    }

    private func line(at start: Int) throws(RedisError) -> (ArraySlice<UInt8>, end: Int)? {
        guard let end = buffer[start...].firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        guard end > start, buffer[end - 1] == UInt8(ascii: "\r") else {
            throw .violation("a line that ends without a carriage return")
        }
        return (buffer[start..<end - 1], end + 1)
    }

    private func number(_ line: ArraySlice<UInt8>) throws(RedisError) -> Int64 {
        guard let number = Int64(String(decoding: line, as: UTF8.self)) else {
            throw .violation("a malformed number")
        }
        return number
    }

    /// Nil for null.
    private func count(_ line: ArraySlice<UInt8>, most: Int) throws(RedisError) -> Int? {
        let count = try number(line)
        if count == -1 { return nil }
        guard (0...Int64(most)).contains(count) else { throw .violation("a length of \(count)") }
        return Int(count)
    }
}
