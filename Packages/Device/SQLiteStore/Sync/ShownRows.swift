internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSyncProtocol

/// Rows of a batch that the device already shows, and whose objects have no further edits queued. These are uploads
/// that come back exactly as they were written. The rows stay untouched, and only the rows beneath them are deleted.
struct ShownRows {
    /// By frame and block: whether each row is shown; nil if no row of the block is.
    private var rows: [[[Bool]?]]

    /// Finds these rows, and removes their objects from `affected`.
    /// - Parameter isQueued: whether an instruction on an object is still queued after the batch.
    init(
        _ file: StoreFile, _ frames: [BatchFrame], _ affected: inout AffectedObjects,
        isQueued: (ObjectReference) -> Bool
    ) throws {
        rows = []
        for frame in frames {
            var blocks: [[Bool]?] = []
            for block in frame.blocks { blocks.append(try Self.shown(block, file, &affected, isQueued)) }
            rows.append(blocks)
        }
    }

    /// The rows of a frame, by block.
    subscript(frame: Int) -> [[Bool]?] { rows[frame] }

    private static func shown(
        _ block: RowBlock, _ file: StoreFile, _ affected: inout AffectedObjects, _ isQueued: (ObjectReference) -> Bool
    ) throws -> [Bool]? {
        let table = file.layout.tables[block.classIndex]
        guard block.isWhole, block.columns.count == table.columnNames.count, let forget = table.restoreByKey.last else {
            return nil
        }
        let columns = block.columns.map { "c.\(table.columnNames[$0])" }.joined(separator: ", ")
        let types = block.columns.map { table.storedTypes[$0] }
        let select = try file.connection.statement(
            "SELECT \(columns) FROM \(table.table) AS c WHERE c.\(table.key) = ?1 "
                + "AND EXISTS (SELECT 1 FROM \(table.beneath) AS b WHERE b.\(table.key) = ?1)")
        defer { select.clear() }
        let delete = try file.connection.statement(forget)
        defer { delete.clear() }
        var result: [Bool]?
        for row in 0..<block.rowCount {
            let reference = ObjectReference(
                classIndex: block.classIndex, key: block.key(row: row, schema: file.schema))
            guard affected.isNamedOnce(reference), !isQueued(reference) else { continue }
            select.bind(reference.key, at: 1)
            let present = try select.step() ? select.row(types) : nil
            select.reset()
            guard let present, isSame(present, block, row, file.schema) else { continue }
            delete.bind(reference.key, at: 1)
            try delete.run()
            affected.remove(reference)
            if result == nil { result = Array(repeating: false, count: block.rowCount) }
            result?[row] = true
        }
        return result
    }

    private static func isSame(_ present: Row, _ block: RowBlock, _ row: Int, _ schema: Schema) -> Bool {
        present.values.indices.allSatisfy { position in
            switch (present.values[position], block.value(row: row, position: position, schema: schema)) {
            // Values that compare as equal can still have different bits.
            case (.double(let left), .double(let right)): left.bitPattern == right.bitPattern
            case (.decimal(let left), .decimal(let right)):
                left.withBIDBytes { Array($0) } == right.withBIDBytes { Array($0) }
            case (let left, let right): left == right
            }
        }
    }
}
