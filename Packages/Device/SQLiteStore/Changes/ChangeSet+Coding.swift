/// The stored form. It takes only a few bytes, both for a small transaction and for a bulk insert:
///
///     1 byte   format, 1
///     then for each class:
///     8 bytes  identity (``ChangeShape``), big endian
///     1 byte   1 if every row may have changed, otherwise 0 and:
///     spans    inserted rowids
///     spans    deleted rowids
///     number   of groups of modified rows, for each:
///     number   of words of the column set, then the words
///     spans    its rowids
///
/// Spans are stored as their number, then two numbers for each span: the distance from the end of the previous span
/// (for the first, from 0; zigzag), and the length minus one. Numbers are LEB128: 7 bits per byte, low bits first.
extension ChangeSet {
    static let format: UInt8 = 1
    /// A longer set is stored as "every row of these classes may have changed".
    package static let maximumByteCount = 1 << 20

    package func encoded(_ shape: ChangeShape) -> [UInt8] {
        var writer = ChangeWriter()
        writer.bytes = [Self.format]
        for (classIndex, changes) in classes.sorted(by: { $0.key < $1.key }) {
            writer.append(changes, shape.identities[classIndex])
        }
        guard writer.bytes.count > Self.maximumByteCount else { return writer.bytes }
        return ChangeSet(classes.mapValues { _ in .everything }).encoded(shape)
    }

    /// - Parameter shape: the reader's classes; other classes are left out.
    /// - Returns: nil if the bytes aren't a stored change set.
    package init?(_ bytes: [UInt8], _ shape: ChangeShape) {
        self.init()
        var reader = ChangeReader(bytes)
        guard reader.byte() == Self.format else { return nil }
        while !reader.isAtEnd {
            guard let identity = reader.identity(), let changes = reader.changes() else { return nil }
            guard let (classIndex, hasSameProperties) = shape.classIndex(of: identity) else { continue }
            self[classIndex].merge(hasSameProperties ? changes : .everything)
        }
    }
}

/// Writes the parts of a stored change set.
private struct ChangeWriter {
    var bytes: [UInt8] = []

    mutating func append(_ changes: ClassChanges, _ identity: UInt64) {
        for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: identity >> shift)) }
        bytes.append(changes.isEverything ? 1 : 0)
        if changes.isEverything { return }
        append(changes.inserted)
        append(changes.deleted)
        let groups = changes.modified.groups
        append(UInt64(groups.count))
        for (columns, rowIDs) in groups.sorted(by: { $0.key.words.lexicographicallyPrecedes($1.key.words) }) {
            append(UInt64(columns.words.count))
            for word in columns.words { append(word) }
            append(rowIDs)
        }
    }

    private mutating func append(_ rowIDs: RowIDSet) {
        append(UInt64(rowIDs.spans.count))
        var end: Int64 = 0
        for span in rowIDs.spans {
            let distance = span.first &- end
            append(UInt64(bitPattern: (distance << 1) ^ (distance >> 63)))
            append(UInt64(bitPattern: span.last &- span.first))
            end = span.last
        }
    }

    private mutating func append(_ number: UInt64) {
        var left = number
        while left >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: left) | 0x80)
            left >>= 7
        }
        bytes.append(UInt8(left))
    }
}

/// Reads the parts of a stored change set. Each part is nil if its bytes are invalid.
private struct ChangeReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position >= bytes.count }

    mutating func byte() -> UInt8? {
        guard position < bytes.count else { return nil }
        position += 1
        return bytes[position - 1]
    }

    mutating func identity() -> UInt64? {
        guard bytes.count - position >= 8 else { return nil }
        position += 8
        return bytes[(position - 8)..<position].reduce(0) { $0 << 8 | UInt64($1) }
    }

    mutating func changes() -> ClassChanges? {
        switch byte() {
        case 1: return .everything
        case 0: break
        default: return nil
        }
        var result = ClassChanges()
        guard let inserted = rowIDs(), let deleted = rowIDs(), let groupCount = count() else { return nil }
        result.inserted = inserted
        result.deleted = deleted
        for _ in 0..<groupCount {
            guard let columns = columns(), !columns.isEmpty, let modified = rowIDs(),
                result.modified.groups.values.allSatisfy({ $0.intersection(modified).isEmpty })
            else { return nil }
            result.modified.add(modified, columns)
            if result.modified.isTooLarge { return nil }
        }
        return result
    }

    private mutating func columns() -> ColumnSet? {
        guard let count = count(), (1...ColumnSet.maximumWordCount).contains(count) else { return nil }
        var words: [UInt64] = []
        for _ in 0..<count {
            guard let word = number() else { return nil }
            words.append(word)
        }
        return ColumnSet(words: words)
    }

    private mutating func rowIDs() -> RowIDSet? {
        guard let count = count() else { return nil }
        var result = RowIDSet()
        var end: Int64 = 0
        for index in 0..<count {
            guard let zigzag = number(), let length = number() else { return nil }
            let distance = Int64(bitPattern: zigzag >> 1) ^ -Int64(bitPattern: zigzag & 1)
            let first = end &+ distance
            let last = first &+ Int64(bitPattern: length)
            // Spans ascend and have gaps between them. A span never covers the whole range of numbers.
            guard last >= first, length <= UInt64(Int64.max), index == 0 || end < .max && first > end + 1 else {
                return nil
            }
            result.append(RowIDSet.Span(first: first, last: last))
            end = last
        }
        return result
    }

    /// The number of parts that follow, of at least one byte each.
    private mutating func count() -> Int? {
        guard let number = number(), number <= UInt64(bytes.count - position) else { return nil }
        return Int(number)
    }

    private mutating func number() -> UInt64? {
        var result: UInt64 = 0
        for shift in stride(from: 0 as UInt64, through: 63, by: 7) {
            guard let byte = byte() else { return nil }
            let bits = UInt64(byte & 0x7f)
            guard shift < 63 || bits <= 1 else { return nil }
            result |= bits << shift
            if byte & 0x80 == 0 { return result }
        }
        return nil
    }
}
