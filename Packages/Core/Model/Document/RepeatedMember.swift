/// Finds a member that a JSON object contains twice. Decoders silently take one of the two. To them, names that only look
/// the same are the same name, such as `é` as one code point and as two.
package struct RepeatedMember {
    /// The member's name as written, without quotes.
    package let name: String
    /// The line number, starting at 1.
    package let line: Int

    /// Finds the first repeated member; nil if there is none.
    /// - Parameter json: valid JSON.
    package init?(in json: some Sequence<UInt8>) { self.init(Array(json)) }

    private init?(_ json: [UInt8]) {
        /// The member names seen so far in each enclosing object; nil for an array.
        var outer: [Set<String>?] = []
        var line = 1
        var index = 0
        while index < json.count {
            switch json[index] {
            case UInt8(ascii: "{"): outer.append([])
            case UInt8(ascii: "["): outer.append(nil)
            case UInt8(ascii: "}"), UInt8(ascii: "]"): _ = outer.popLast()
            case UInt8(ascii: "\n"): line += 1
            case UInt8(ascii: "\""):
                let start = index + 1
                index = start
                while index < json.count, json[index] != UInt8(ascii: "\"") {
                    index += json[index] == UInt8(ascii: "\\") ? 2 : 1
                }
                let text = json[start..<min(index, json.count)]
                var next = index + 1
                while next < json.count, Self.spaces.contains(json[next]) { next += 1 }
                guard next < json.count, json[next] == UInt8(ascii: ":"), let last = outer.indices.last else { break }
                let name = String(decoding: Self.unescaped(text), as: UTF8.self)
                if outer[last]?.insert(name).inserted == false {
                    self.name = String(decoding: text, as: UTF8.self)
                    self.line = line
                    return
                }
            default: break
            }
            index += 1
        }
        return nil
    }

    private static let spaces = Set(" \t\r\n".utf8)

    /// Resolves escapes, because an escaped letter doesn't make a different name.
    private static func unescaped(_ text: ArraySlice<UInt8>) -> [UInt8] {
        guard text.contains(UInt8(ascii: "\\")) else { return Array(text) }
        var result: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let kind = rest.popFirst() else {
                result.append(byte)
                continue
            }
            guard kind == UInt8(ascii: "u"),
                let number = UInt32(String(decoding: rest.prefix(4), as: UTF8.self), radix: 16),
                let scalar = Unicode.Scalar(number)
            else {
                result += [byte, kind]
                continue
            }
            rest = rest.dropFirst(4)
            result += Array(String(Character(scalar)).utf8)
        }
        return result
    }
}
