internal import Foundation
public import TomboloModel

/// Collects what a session must send for a tick, by class and shape. It does no I/O, and is used both for live ticks
/// and for catching up.
public struct FrameBuilder: Sendable {
    private struct Shape: Hashable {
        let classIndex: Int
        let columns: [Int]
        let isWhole: Bool
    }

    private let schema: Schema
    /// The columns that the device has, by class, the primary key first.
    private let deviceColumns: [Int: [Int]]
    private let hidden: [Int: Set<Int>]
    private var blocks: [RowBlock] = []
    private var openBlock: [Shape: Int] = [:]
    private var removals: [Int: [Value]] = [:]
    /// The number of objects added or removed so far.
    public private(set) var objectCount = 0

    /// Makes a builder for a device that has only some classes and columns.
    ///
    /// - Parameters:
    ///   - deviceColumns: by class position, the columns to send, the primary key first. Other classes are left out.
    ///   - hidden: by class position, columns whose changes aren't sent to the device. Whole objects still include
    ///     these columns, and ``ColumnMask`` empties them.
    public init(schema: Schema, deviceColumns: [Int: [Int]], hidden: [Int: Set<Int>] = [:]) {
        self.schema = schema
        self.deviceColumns = deviceColumns
        self.hidden = hidden
    }

    /// Adds the effect of a change on a session whose visibility was `old` before the change and is `new` now.
    package mutating func add(_ change: RootChange, old: RowVisibility, new: RowVisibility) {
        let classIndex = change.reference.classIndex
        add(
            change, had: old.includes(change.old, classIndex: classIndex),
            has: new.includes(change.new, classIndex: classIndex))
    }

    /// Adds the effect of a change on a session.
    /// - Parameters:
    ///   - had: whether the session saw the object before.
    ///   - has: whether it sees the object now.
    public mutating func add(_ change: RootChange, had: Bool, has: Bool) {
        let classIndex = change.reference.classIndex
        switch (had, has) {
        case (false, false): break
        case (true, false): remove(change.reference.key, classIndex: classIndex)
        case (false, true):
            guard let row = change.new else { return }
            addWhole(row, classIndex: classIndex)
            for (index, rows) in change.elements { for row in rows { addWhole(row, classIndex: index) } }
        case (true, true):
            guard let row = change.new else { return }
            addChanged(change.changedColumns, of: row, classIndex: classIndex)
            for (index, keys) in change.removedElements { for key in keys { remove(key, classIndex: index) } }
            for (index, rows) in change.changedElements { for row in rows { addWhole(row, classIndex: index) } }
        }
    }

    /// Adds a whole object or list element.
    public mutating func addWhole(_ row: Row, classIndex: Int) {
        guard let columns = deviceColumns[classIndex] else { return }
        append(row, Shape(classIndex: classIndex, columns: columns, isWhole: true))
    }

    /// Removes an object or list element from the device.
    public mutating func remove(_ key: Value, classIndex: Int) {
        guard deviceColumns[classIndex] != nil else { return }
        removals[classIndex, default: []].append(key)
        objectCount += 1
    }

    private mutating func addChanged(_ changed: [Int], of row: Row, classIndex: Int) {
        guard let known = deviceColumns[classIndex], let key = known.first else { return }
        let hidden = hidden[classIndex] ?? []
        let columns = changed.filter { known.contains($0) && $0 != key && !hidden.contains($0) }
        guard !columns.isEmpty else { return }
        append(row, Shape(classIndex: classIndex, columns: [key] + columns, isWhole: false))
    }

    private mutating func append(_ row: Row, _ shape: Shape) {
        objectCount += 1
        if let index = openBlock[shape], !blocks[index].isFull {
            blocks[index].append(row)
        } else {
            var block = RowBlock(
                schema: schema, classIndex: shape.classIndex, columns: shape.columns, isWhole: shape.isWhole)
            block.append(row)
            openBlock[shape] = blocks.count
            blocks.append(block)
        }
    }

    /// The collected frames. Each has about ``BatchFrame/targetByteCount`` bytes, or a single larger row.
    public func frames() -> [BatchFrame] {
        var result: [BatchFrame] = []
        var current = BatchFrame(sequence: 0)
        var bytes = 0
        var count = 0
        for (classIndex, keys) in removals.sorted(by: { $0.key < $1.key }) {
            var part: [Value] = []
            for key in keys {
                if count >= BatchFrame.maximumRemovalCount || bytes >= BatchFrame.targetByteCount {
                    if !part.isEmpty { current.removals.append(ObjectRemoval(classIndex: classIndex, keys: part)) }
                    part = []
                    result.append(current)
                    current = BatchFrame(sequence: result.count)
                    (bytes, count) = (0, 0)
                }
                part.append(key)
                bytes += key.sentByteCount
                count += 1
            }
            if !part.isEmpty { current.removals.append(ObjectRemoval(classIndex: classIndex, keys: part)) }
        }
        for block in blocks {
            if bytes > 0, bytes + block.byteCount > BatchFrame.targetByteCount {
                result.append(current)
                current = BatchFrame(sequence: result.count)
                bytes = 0
            }
            current.blocks.append(block)
            bytes += block.byteCount
        }
        if !current.isEmpty { result.append(current) }
        for index in result.indices { result[index].totalObjects = objectCount }
        if let last = result.indices.last { result[last].objectsSoFar = objectCount }
        return result
    }
}

extension Value {
    /// The approximate size of the value in a message, in bytes.
    fileprivate var sentByteCount: Int {
        switch self {
        case .string(let text): text.utf8.count + 4
        case .data(let data): data.count + 4
        default: 16
        }
    }
}

extension RowBlock {
    /// Whether the next row should start a new block, to keep blocks and frames near their target size.
    fileprivate var isFull: Bool { rowCount >= Self.maximumRowCount || byteCount >= BatchFrame.targetByteCount }

    /// Splits the block's rows into blocks of about ``BatchFrame/targetByteCount``. Each part has at least one row.
    /// - Parameter isKept: returns false for rows to leave out.
    public func cut(schema: Schema, where isKept: ((Int) -> Bool)? = nil) -> [RowBlock] {
        if isKept == nil, byteCount <= 2 * BatchFrame.targetByteCount { return [self] }
        var result: [RowBlock] = []
        var part = RowBlock(schema: schema, classIndex: classIndex, columns: columns, isWhole: isWhole)
        for row in 0..<rowCount where isKept?(row) ?? true {
            if part.isFull {
                result.append(part)
                part = RowBlock(schema: schema, classIndex: classIndex, columns: columns, isWhole: isWhole)
            }
            for position in columns.indices {
                part.vectors[position].append(value(row: row, position: position, schema: schema))
            }
            part.finishRow()
        }
        if part.rowCount > 0 { result.append(part) }
        return result
    }
}

extension BatchFrame {
    /// The approximate size in memory and on the wire, in bytes.
    public var byteCount: Int {
        blocks.reduce(0) { $0 + $1.byteCount }
            + removals.reduce(0) { $0 + $1.keys.reduce(0) { $0 + $1.sentByteCount } }
    }

    /// The approximate size in bytes at which frames are cut: small enough for memory, and large enough for efficiency.
    public static let targetByteCount = 256 << 10
    /// The maximum number of removals in a frame.
    public static let maximumRemovalCount = 16_384
}
