/// String keys that order the elements of a list. There is always room for another key between two, so that moving an
/// element rewrites only that element. Keys are compared by their bytes (`COLLATE "C"`).
///
/// A key at an end of the list is a counter that grows by one. Its first letter says how many digits follow: `a0`, `a1`
/// … `az`, `b00` … upwards and `Zz`, `Zy` … `Z0`, `Yzz` … downwards. A key between two others is the next counter if it
/// fits; otherwise it's a counter with a fraction, about halfway between the two: `a0V` is between `a0` and `a1`.
/// Digits are `0-9A-Za-z`.
///
/// Other keys of these characters, for example from an import, are accepted too; keys next to them may be longer.
public enum FractionalRank {
    /// The key for the first element of an empty list.
    public static let first = "a0"

    /// A key greater than `lower` and less than `upper`; nil stands for the start or end of the list.
    /// - Throws: ``ValueError`` for a key with other characters, or if `lower` isn't less than `upper`.
    public static func between(_ lower: String?, _ upper: String?) throws(ValueError) -> String {
        let low = try lower.map(digits)
        let high = try upper.map(digits)
        switch (low, high) {
        case (nil, nil): return first
        case (let low?, nil): return text(following(low))
        case (nil, let high?): return text(try preceding(high))
        case (let low?, let high?): return text(try inside(low, high))
        }
    }

    /// `count` ascending keys between two others.
    /// - Throws: ``ValueError`` like ``between(_:_:)``.
    public static func sequence(
        count: Int, between lower: String?, _ upper: String?
    ) throws(ValueError) -> [String] {
        var result: [String] = []
        result.reserveCapacity(max(0, count))
        try append(count, lower, upper, to: &result)
        return result
    }

    private static func append(
        _ count: Int, _ lower: String?, _ upper: String?, to result: inout [String]
    ) throws(ValueError) {
        guard count > 0 else { return }
        if upper == nil {
            var last = lower
            for _ in 0..<count {
                let next = try between(last, nil)
                result.append(next)
                last = next
            }
        } else if lower == nil {
            var reversed: [String] = []
            var next = upper
            for _ in 0..<count {
                let previous = try between(nil, next)
                reversed.append(previous)
                next = previous
            }
            result.append(contentsOf: reversed.reversed())
        } else {
            let pivot = try between(lower, upper)
            let before = (count - 1) / 2
            try append(before, lower, pivot, to: &result)
            result.append(pivot)
            try append(count - 1 - before, pivot, upper, to: &result)
        }
    }
}

extension FractionalRank {
    private static let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
    /// The number of digits.
    private static let base = 62
    /// `A`, the first letter of the smallest counters, which are 26 digits long.
    private static let smallestHead = 10
    /// `Z` and `a`: counters of one digit, downwards and upwards.
    private static let lastNegativeHead = 35
    private static let firstPositiveHead = 36

    private static func digits(_ text: String) throws(ValueError) -> [Int] {
        guard !text.isEmpty else { throw ValueError("A rank must be at least one character long.") }
        var result: [Int] = []
        result.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): result.append(Int(byte - UInt8(ascii: "0")))
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): result.append(Int(byte - UInt8(ascii: "A")) + 10)
            case UInt8(ascii: "a")...UInt8(ascii: "z"): result.append(Int(byte - UInt8(ascii: "a")) + 36)
            default: throw ValueError("'\(text)' is not a rank: ranks consist of 0-9, A-Z and a-z.")
            }
        }
        return result
    }

    private static func text(_ digits: [Int]) -> String {
        String(decoding: digits.map { alphabet[$0] }, as: UTF8.self)
    }

    /// The number of digits that follow this first letter in a counter, or nil if no counter starts with it.
    private static func counterLength(head: Int) -> Int? {
        switch head {
        case smallestHead...lastNegativeHead: lastNegativeHead - head + 1
        case firstPositiveHead..<base: head - firstPositiveHead + 1
        default: nil
        }
    }

    /// The counter at the start of a key, or nil if the key wasn't made here.
    private static func counter(_ key: [Int]) -> [Int]? {
        guard let head = key.first, let length = counterLength(head: head), key.count > length else { return nil }
        return Array(key[...length])
    }

    private static func following(_ key: [Int]) -> [Int] {
        guard let counter = counter(key), let next = incremented(counter) else { return upperHalf(key) }
        return next
    }

    private static func preceding(_ key: [Int]) throws(ValueError) -> [Int] {
        if let counter = counter(key) {
            // A fraction makes the key greater than its counter alone.
            if key.count > counter.count { return counter }
            if let previous = decremented(counter) { return previous }
        }
        return try middle([], key)
    }

    private static func incremented(_ counter: [Int]) -> [Int]? {
        var result = counter
        for index in result.indices.dropFirst().reversed() {
            if result[index] < base - 1 {
                result[index] += 1
                return result
            }
            result[index] = 0
        }
        let head = counter[0] + 1
        guard let length = counterLength(head: head) else { return nil }
        return [head] + Array(repeating: 0, count: length)
    }

    private static func decremented(_ counter: [Int]) -> [Int]? {
        var result = counter
        for index in result.indices.dropFirst().reversed() {
            if result[index] > 0 {
                result[index] -= 1
                // The smallest counter isn't used, because there would be no room below it.
                return result[0] == smallestHead && result.dropFirst().allSatisfy { $0 == 0 } ? nil : result
            }
            result[index] = base - 1
        }
        let head = counter[0] - 1
        guard let length = counterLength(head: head) else { return nil }
        return [head] + Array(repeating: base - 1, count: length)
    }

    /// The next counter if it fits, otherwise a longer fraction after `low`'s counter.
    private static func inside(_ low: [Int], _ high: [Int]) throws(ValueError) -> [Int] {
        guard let counter = counter(low), let other = self.counter(high), counter != other else {
            return try middle(low, high)
        }
        if let next = incremented(counter), next.lexicographicallyPrecedes(high), low.lexicographicallyPrecedes(next) {
            return next
        }
        guard low.lexicographicallyPrecedes(high) else { return try middle(low, high) }
        return counter + upperHalf(Array(low.dropFirst(counter.count)))
    }

    /// The shortest key halfway between a key and the end.
    private static func upperHalf(_ key: [Int]) -> [Int] {
        var result: [Int] = []
        for digit in key {
            if digit < base - 1 {
                result.append((digit + base) / 2)
                return result
            }
            result.append(digit)
        }
        return result + [base / 2]
    }

    /// The shortest key halfway between two others; an empty `low` stands for the start.
    private static func middle(_ low: [Int], _ high: [Int]) throws(ValueError) -> [Int] {
        var shared = 0
        while shared < high.count, (shared < low.count ? low[shared] : 0) == high[shared] { shared += 1 }
        let lower = shared < low.count ? low[shared] : 0
        guard shared < high.count, lower < high[shared] else {
            throw ValueError("There is no rank between '\(text(low))' and '\(text(high))'.")
        }
        let prefix = Array(high[..<shared])
        if high[shared] - lower > 1 { return prefix + [(lower + high[shared]) / 2] }
        // A key that stops before zeros would leave no room after it.
        if high.dropFirst(shared + 1).contains(where: { $0 > 0 }) { return prefix + [high[shared]] }
        return prefix + [lower] + upperHalf(Array(low.dropFirst(shared + 1)))
    }
}
