/// Searches text for bytes in time linear in the text, whatever both contain (Knuth–Morris–Pratt). Trying every
/// position takes time proportional to the product of their lengths: a needle of 16 kB in a text of 32 kB took seconds.
struct LiteralSearch: Sendable {
    private let needle: [UInt8]
    /// For each number of matched bytes, the length of the longest proper suffix that is also a prefix of the needle.
    private let borders: [Int]
    private let ignoresCase: Bool

    /// - Parameter ignoringCase: whether A–Z equal a–z. No other letters are folded.
    init(_ needle: some Sequence<UInt8>, ignoringCase: Bool = false) {
        let needle = ignoringCase ? needle.map(\.lowercasedASCII) : Array(needle)
        var borders = [0, 0]
        borders.reserveCapacity(needle.count + 1)
        var border = 0
        for index in needle.indices.dropFirst() {
            while border > 0, needle[index] != needle[border] { border = borders[border] }
            if needle[index] == needle[border] { border += 1 }
            borders.append(border)
        }
        self.needle = needle
        self.borders = borders
        ignoresCase = ignoringCase
    }

    /// The end of the first occurrence at or after `start`, or nil if there is none.
    func find(in text: UnsafeBufferPointer<UInt8>, from start: Int = 0) -> Int? {
        if needle.isEmpty { return start }
        var matched = 0
        for position in start..<text.count {
            let byte = ignoresCase ? text[position].lowercasedASCII : text[position]
            while matched > 0, byte != needle[matched] { matched = borders[matched] }
            if byte == needle[matched] { matched += 1 }
            if matched == needle.count { return position + 1 }
        }
        return nil
    }
}

extension UInt8 {
    /// A–Z folded to a–z, which all stores can do in the same way.
    var lowercasedASCII: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self + 32 : self }
}
