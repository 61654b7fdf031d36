/// A set of rowids, stored as ascending spans with gaps between them. A bulk insert is a single span.
package struct RowIDSet: Hashable, Sendable {
    /// The first and last rowid of consecutive rows.
    package struct Span: Hashable, Sendable {
        package var first: Int64
        package var last: Int64

        package init(first: Int64, last: Int64) {
            self.first = first
            self.last = last
        }

        /// The number of rowids, at most `Int.max`.
        package var count: Int {
            let (distance, overflow) = last.subtractingReportingOverflow(first)
            return overflow || distance == .max ? .max : Int(distance) + 1
        }
    }

    package private(set) var spans: [Span] = []

    /// With at most this many spans, each is looked up in the other set. With more, both sets are traversed in
    /// parallel.
    private static let fewSpans = 4

    package init() {}

    /// Accepts rowids in any order, with or without duplicates.
    package init(_ rowIDs: some Sequence<Int64>) {
        var isSorted = true
        var list: [Int64] = []
        for rowID in rowIDs {
            if let last = list.last, last > rowID { isSorted = false }
            list.append(rowID)
        }
        if !isSorted { list.sort() }
        for rowID in list { append(Span(first: rowID, last: rowID)) }
    }

    package init(first: Int64, last: Int64) { spans = first <= last ? [Span(first: first, last: last)] : [] }

    package var isEmpty: Bool { spans.isEmpty }
    package var first: Int64? { spans.first?.first }
    package var last: Int64? { spans.last?.last }

    /// The number of rowids, at most `Int.max`.
    package var count: Int {
        spans.reduce(0) { sum, span in
            let (total, overflow) = sum.addingReportingOverflow(span.count)
            return overflow ? .max : total
        }
    }

    package func contains(_ rowID: Int64) -> Bool {
        guard let last, rowID <= last else { return false }
        let index = firstSpan(endingAtOrAfter: rowID)
        return index < spans.count && spans[index].first <= rowID
    }

    private func firstSpan(endingAtOrAfter rowID: Int64) -> Int {
        var (low, high) = (0, spans.count)
        while low < high {
            let middle = (low + high) / 2
            if spans[middle].last < rowID { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Adds a rowid that isn't below the last one.
    package mutating func append(_ rowID: Int64) { append(Span(first: rowID, last: rowID)) }

    /// Adds a span that doesn't start before the last one.
    mutating func append(_ span: Span) {
        guard let last = spans.last, last.last == .max || span.first <= last.last + 1 else {
            spans.append(span)
            return
        }
        if span.last > last.last { spans[spans.count - 1].last = span.last }
    }

    package mutating func formUnion(_ other: RowIDSet) {
        if isEmpty {
            self = other
            return
        }
        if other.spans.count <= Self.fewSpans {
            for span in other.spans { insert(span) }
            return
        }
        var result = RowIDSet()
        result.spans.reserveCapacity(spans.count + other.spans.count)
        var (left, right) = (0, 0)
        while left < spans.count || right < other.spans.count {
            if right >= other.spans.count || left < spans.count && spans[left].first <= other.spans[right].first {
                result.append(spans[left])
                left += 1
            } else {
                result.append(other.spans[right])
                right += 1
            }
        }
        self = result
    }

    private mutating func insert(_ span: Span) {
        var joined = span
        // Adjacent spans are merged too.
        let start = firstSpan(endingAtOrAfter: span.first == .min ? .min : span.first - 1)
        var end = start
        while end < spans.count, span.last == .max || spans[end].first <= span.last + 1 {
            joined = Span(
                first: Swift.min(joined.first, spans[end].first), last: Swift.max(joined.last, spans[end].last))
            end += 1
        }
        spans.replaceSubrange(start..<end, with: CollectionOfOne(joined))
    }

    package mutating func subtract(_ other: RowIDSet) {
        if isEmpty || other.isEmpty { return }
        if other.spans.count <= Self.fewSpans, intersection(other).isEmpty { return }
        var result: [Span] = []
        result.reserveCapacity(spans.count)
        var next = 0
        for span in spans {
            var first = span.first
            var isOver = false
            while next < other.spans.count, other.spans[next].last < first { next += 1 }
            var position = next
            while position < other.spans.count, other.spans[position].first <= span.last {
                let hole = other.spans[position]
                if hole.first > first { result.append(Span(first: first, last: hole.first - 1)) }
                if hole.last >= span.last {
                    isOver = true
                    break
                }
                first = hole.last + 1
                position += 1
            }
            if !isOver { result.append(Span(first: first, last: span.last)) }
        }
        spans = result
    }

    package func intersection(_ other: RowIDSet) -> RowIDSet {
        // Iterate over the set with fewer spans, so that skipped parts of the other one aren't read.
        guard spans.count <= other.spans.count else { return other.intersection(self) }
        var result = RowIDSet()
        for span in spans {
            var index = other.firstSpan(endingAtOrAfter: span.first)
            while index < other.spans.count, other.spans[index].first <= span.last {
                let common = other.spans[index]
                result.spans.append(
                    Span(first: Swift.max(span.first, common.first), last: Swift.min(span.last, common.last)))
                index += 1
            }
        }
        return result
    }

    package func union(_ other: RowIDSet) -> RowIDSet {
        var result = self
        result.formUnion(other)
        return result
    }

    package func subtracting(_ other: RowIDSet) -> RowIDSet {
        var result = self
        result.subtract(other)
        return result
    }
}

extension RowIDSet: Sequence {
    package struct Iterator: IteratorProtocol {
        private let spans: [Span]
        private var position = 0
        private var upcoming: Int64?

        init(_ spans: [Span]) {
            self.spans = spans
            upcoming = spans.first?.first
        }

        package mutating func next() -> Int64? {
            guard let rowID = upcoming else { return nil }
            if rowID < spans[position].last {
                upcoming = rowID + 1
            } else {
                position += 1
                upcoming = position < spans.count ? spans[position].first : nil
            }
            return rowID
        }
    }

    package func makeIterator() -> Iterator { Iterator(spans) }
    package var underestimatedCount: Int { count }
}

extension RowIDSet: ExpressibleByArrayLiteral {
    package init(arrayLiteral elements: Int64...) { self.init(elements) }
}
