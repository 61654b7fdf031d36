import Foundation

/// Parses JSON (RFC 8259) from untrusted bytes. Bytes that aren't UTF-8 become U+FFFD, and so does U+0000. Control
/// characters in strings are accepted. Text after the value is an error.
struct JSONParser {
    /// Arrays and objects nested deeper than this are kept as text.
    static let maximumDepth = 64
    /// More values than any answer has. They would take about 100 MB.
    static let maximumValueCount = 1_000_000

    private let bytes: [UInt8]
    private var position = 0
    private var valueCount = 0

    static func parse(_ data: Data) throws(JSONError) -> JSON {
        var parser = JSONParser(bytes: [UInt8](data))
        if parser.bytes.starts(with: [0xEF, 0xBB, 0xBF]) { parser.position = 3 }
        let value = try parser.value(depth: 0)
        parser.skipSpace()
        guard parser.position == parser.bytes.count else {
            throw parser.error("there's more after the end of the value.")
        }
        return value
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    static func isNumberByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }

    private var byte: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func error(_ message: String, at offset: Int? = nil) -> JSONError {
        JSONError(message: message, offset: offset ?? position)
    }

    private var unexpected: JSONError {
        guard let byte else { return error("the document ends in the middle of a value.") }
        let shown = (0x21...0x7E).contains(byte) ? "'\(Character(Unicode.Scalar(byte)))'" : "byte \(byte)"
        return error("\(shown) isn't expected here.")
    }

    private mutating func skipSpace() {
        while let byte, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { position += 1 }
    }

    /// - Returns: whether the character was there.
    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard byte == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func value(depth: Int) throws(JSONError) -> JSON {
        skipSpace()
        valueCount += 1
        guard valueCount <= Self.maximumValueCount else {
            throw error("the document has more than \(Self.maximumValueCount) values.")
        }
        switch byte {
        case UInt8(ascii: "{")?: return depth < Self.maximumDepth ? try object(depth: depth + 1) : try tooDeep()
        case UInt8(ascii: "[")?: return depth < Self.maximumDepth ? try array(depth: depth + 1) : try tooDeep()
        case UInt8(ascii: "\"")?: return .string(try string())
        case UInt8(ascii: "t")?: return try word("true", .bool(true))
        case UInt8(ascii: "f")?: return try word("false", .bool(false))
        case UInt8(ascii: "n")?: return try word("null", .null)
        case UInt8(ascii: "-")?, (UInt8(ascii: "0")...UInt8(ascii: "9"))?: return try number()
        default: throw unexpected
        }
    }

    private mutating func word(_ text: StaticString, _ value: JSON) throws(JSONError) -> JSON {
        let end = position + text.utf8CodeUnitCount
        guard end <= bytes.count, bytes[position..<end].elementsEqual("\(text)".utf8) else { throw unexpected }
        position = end
        return value
    }

    private mutating func number() throws(JSONError) -> JSON {
        let start = position
        while let byte, Self.isNumberByte(byte) { position += 1 }
        let digits = String(decoding: bytes[start..<position], as: UTF8.self)
        guard Double(digits) != nil else { throw error("'\(digits.prefix(40))' isn't a number.", at: start) }
        return .number(digits)
    }

    private mutating func array(depth: Int) throws(JSONError) -> JSON {
        position += 1
        var items: [JSON] = []
        skipSpace()
        if skip("]") { return .array(items) }
        while true {
            items.append(try value(depth: depth))
            skipSpace()
            if skip("]") { return .array(items) }
            guard skip(",") else { throw unexpected }
        }
    }

    private mutating func object(depth: Int) throws(JSONError) -> JSON {
        position += 1
        var members: [JSON.Member] = []
        skipSpace()
        if skip("}") { return .object(members) }
        while true {
            skipSpace()
            guard byte == UInt8(ascii: "\"") else { throw unexpected }
            let name = try string()
            skipSpace()
            guard skip(":") else { throw unexpected }
            members.append(JSON.Member(name: name, value: try value(depth: depth)))
            skipSpace()
            if skip("}") { return .object(members) }
            guard skip(",") else { throw unexpected }
        }
    }

    /// Skips an array or object by its brackets, without parsing its content.
    private mutating func tooDeep() throws(JSONError) -> JSON {
        let start = position
        var open: [UInt8] = []
        repeat {
            switch byte {
            case nil: throw unexpected
            case UInt8(ascii: "{")?: open.append(UInt8(ascii: "}"))
            case UInt8(ascii: "[")?: open.append(UInt8(ascii: "]"))
            case UInt8(ascii: "}")?, UInt8(ascii: "]")?:
                guard open.popLast() == byte else { throw unexpected }
            case UInt8(ascii: "\"")?:
                _ = try string()
                continue
            default: break
            }
            position += 1
        } while !open.isEmpty
        return .tooDeep(Self.text(bytes[start..<position]))
    }

    // MARK: Text

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        return text.utf8.contains(0) ? text.replacing("\0", with: "\u{FFFD}") : text
    }

    private mutating func string() throws(JSONError) -> String {
        let start = position
        position += 1
        var result: [UInt8] = []
        var quote = position - 1
        while true {
            // Only searched again once an escape has passed it, because a text may have millions of escapes.
            if quote < position {
                guard let next = find(UInt8(ascii: "\""), before: bytes.count) else {
                    throw error("this string never ends.", at: start)
                }
                quote = next
            }
            guard let escape = find(UInt8(ascii: "\\"), before: quote) else {
                let end = bytes[position..<quote]
                position = quote + 1
                return Self.text(result.isEmpty ? end : (result + end)[...])
            }
            result += bytes[position..<escape]
            position = escape
            result += String(try self.escape()).utf8
        }
    }

    /// The next position of a byte. Fast, because texts may be long.
    private func find(_ byte: UInt8, before end: Int) -> Int? {
        bytes.withUnsafeBytes { all in
            guard position < end, let start = all.baseAddress,
                let found = memchr(start + position, Int32(byte), end - position)
            else { return nil }
            return UnsafeRawPointer(found) - start
        }
    }

    private mutating func escape() throws(JSONError) -> Unicode.Scalar {
        position += 1
        guard let byte else { throw unexpected }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicode()
        default: throw error("'\\' and this byte aren't a valid escape.", at: position - 1)
        }
    }

    /// Half of a surrogate pair has no meaning, and becomes U+FFFD.
    private mutating func unicode() throws(JSONError) -> Unicode.Scalar {
        let first = try hexadecimal()
        guard (0xD800..<0xDC00).contains(first), position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"),
            bytes[position + 1] == UInt8(ascii: "u")
        else { return first == 0 ? "\u{FFFD}" : Unicode.Scalar(first) ?? "\u{FFFD}" }
        let before = position
        position += 2
        let second = try hexadecimal()
        guard (0xDC00..<0xE000).contains(second) else {
            position = before
            return "\u{FFFD}"
        }
        return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00)) ?? "\u{FFFD}"
    }

    private mutating func hexadecimal() throws(JSONError) -> UInt32 {
        guard position + 4 <= bytes.count, bytes[position..<position + 4].allSatisfy({ $0 != UInt8(ascii: "+") }),
            let code = UInt32(String(decoding: bytes[position..<position + 4], as: UTF8.self), radix: 16)
        else { throw error("'\\u' needs four hexadecimal digits.") }
        position += 4
        return code
    }
}
