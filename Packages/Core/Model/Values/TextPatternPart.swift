/// A part of a ``TextPattern``: UTF-8 text in which `?` matches any code point.
struct TextPatternPart: Sendable {
    private let bytes: [UInt8]
    private let search: Search

    /// How to find the first occurrence.
    private enum Search: Sendable {
        case literal(LiteralSearch)
        /// Shift-And: bit i of the state says whether the last i + 1 code points match the start of the part. `masks`
        /// has the positions at which each code point may appear; `others` has the positions of the `?`.
        case wildcards(masks: [UInt32: [UInt64]], others: [UInt64], count: Int)
    }

    private static let wildcard = UInt8(ascii: "?")

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        search = bytes.contains(Self.wildcard) ? Self.wildcardSearch(bytes) : .literal(LiteralSearch(bytes))
    }

    /// The end of the part if it occurs at `start`, or nil if it doesn't.
    func match(_ text: UnsafeBufferPointer<UInt8>, at start: Int) -> Int? {
        var position = start
        for byte in bytes {
            guard position < text.count else { return nil }
            if byte == Self.wildcard {
                position = Self.next(text, after: position)
            } else if byte == text[position] {
                position += 1
            } else {
                return nil
            }
        }
        return position
    }

    /// Whether the text ends with the part and the part begins at or after `start`.
    func matchesEnd(of text: UnsafeBufferPointer<UInt8>, from start: Int) -> Bool {
        var position = text.count
        switch search {
        case .literal: position -= bytes.count
        case .wildcards(_, _, let count):
            for _ in 0..<count {
                guard position > start else { return false }
                position -= 1
                while position > start, text[position] & 0xc0 == 0x80 { position -= 1 }
            }
        }
        return position >= start && match(text, at: position) == text.count
    }

    /// The end of the first occurrence at or after `start`.
    func find(_ text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        switch search {
        case .literal(let search): search.find(in: text, from: start)
        case .wildcards(let masks, let others, let count):
            find(text, from: start, masks: masks, others: others, count: count)
        }
    }

    /// The start of the next code point. Stray continuation bytes belong to the code point before them.
    private static func next(_ text: UnsafeBufferPointer<UInt8>, after position: Int) -> Int {
        var next = position + 1
        while next < text.count, text[next] & 0xc0 == 0x80 { next += 1 }
        return next
    }

    // MARK: With wildcards

    private static func wildcardSearch(_ bytes: [UInt8]) -> Search {
        let points: [UInt32] = bytes.withUnsafeBufferPointer { text in
            var points: [UInt32] = []
            var position = 0
            while position < text.count {
                let next = next(text, after: position)
                points.append(key(text, position..<next))
                position = next
            }
            return points
        }
        var others = [UInt64](repeating: 0, count: (points.count + 63) / 64)
        for (index, point) in points.enumerated() where point == UInt32(wildcard) {
            others[index / 64] |= 1 << UInt64(index % 64)
        }
        var masks: [UInt32: [UInt64]] = [:]
        for (index, point) in points.enumerated() where point != UInt32(wildcard) {
            masks[point, default: others][index / 64] |= 1 << UInt64(index % 64)
        }
        return .wildcards(masks: masks, others: others, count: points.count)
    }

    /// The bytes of one code point as a number.
    private static func key(_ text: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> UInt32 {
        range.reduce(0) { $0 << 8 | UInt32(text[$1]) }
    }

    private func find(
        _ text: UnsafeBufferPointer<UInt8>, from start: Int, masks: [UInt32: [UInt64]], others: [UInt64], count: Int
    ) -> Int? {
        var state = [UInt64](repeating: 0, count: others.count)
        var position = start
        while position < text.count {
            let next = Self.next(text, after: position)
            let mask = masks[Self.key(text, position..<next)] ?? others
            var carry: UInt64 = 1
            for index in state.indices {
                let shifted = state[index] << 1 | carry
                carry = state[index] >> 63
                state[index] = shifted & mask[index]
            }
            position = next
            if state[(count - 1) / 64] >> UInt64((count - 1) % 64) & 1 == 1 { return position }
        }
        return nil
    }
}
