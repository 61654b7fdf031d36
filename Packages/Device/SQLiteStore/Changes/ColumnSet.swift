/// A set of a class's properties. Bit `i` is the column at position `i`; the lists follow the columns, in class order.
package struct ColumnSet: Hashable, Sendable {
    /// The first 64 bits, which are enough for most classes.
    private var first: UInt64 = 0
    /// The bits from 64 upwards. The last word is never zero.
    private var rest: [UInt64] = []

    /// No class has more properties: this is twice SQLite's limit on columns.
    static let maximumWordCount = 64

    package init() {}

    package init(_ positions: some Sequence<Int>) { for position in positions { insert(position) } }

    init(words: [UInt64]) {
        first = words.first ?? 0
        rest = Array(words.dropFirst())
        while rest.last == 0 { rest.removeLast() }
    }

    /// The bits, lowest first.
    var words: [UInt64] { [first] + rest }

    package var isEmpty: Bool { first == 0 && rest.isEmpty }

    package func contains(_ position: Int) -> Bool {
        if position < 64 { return first & (1 << UInt64(position)) != 0 }
        let word = position / 64 - 1
        return word < rest.count && rest[word] & (1 << UInt64(position % 64)) != 0
    }

    package mutating func insert(_ position: Int) {
        if position < 64 {
            first |= 1 << UInt64(position)
            return
        }
        let word = position / 64 - 1
        while rest.count <= word { rest.append(0) }
        rest[word] |= 1 << UInt64(position % 64)
    }

    package mutating func formUnion(_ other: ColumnSet) {
        first |= other.first
        if other.rest.isEmpty { return }
        for (index, word) in other.rest.enumerated() {
            if index < rest.count { rest[index] |= word } else { rest.append(word) }
        }
    }

    func union(_ other: ColumnSet) -> ColumnSet {
        var result = self
        result.formUnion(other)
        return result
    }

    package func isDisjoint(with other: ColumnSet) -> Bool {
        first & other.first == 0 && zip(rest, other.rest).allSatisfy { $0 & $1 == 0 }
    }

    /// The positions, in ascending order.
    package var positions: [Int] {
        var result: [Int] = []
        for (index, word) in words.enumerated() {
            var left = word
            while left != 0 {
                result.append(index * 64 + left.trailingZeroBitCount)
                left &= left - 1
            }
        }
        return result
    }
}

extension ColumnSet: ExpressibleByArrayLiteral {
    package init(arrayLiteral elements: Int...) { self.init(elements) }
}
