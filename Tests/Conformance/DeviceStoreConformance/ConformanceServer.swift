import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol

/// A fake server: rows by class, and batches that take a device from one state of the rows to the next.
struct ConformanceServer {
    let schema: Schema
    var rows: [ObjectReference: Row] = [:]
    var tick: Int64 = 0
    var subscriptionVersion: Int64 = 0

    init(schema: Schema) { self.schema = schema }

    /// Inserts or replaces a whole row.
    mutating func put(_ classIndex: Int, _ row: Row) { rows[reference(classIndex, row)] = row }

    mutating func remove(_ classIndex: Int, _ key: Value) {
        rows[ObjectReference(classIndex: classIndex, key: key)] = nil
        for element in schema.elementClassIndexes(of: classIndex) {
            for (reference, row) in rows where reference.classIndex == element && row[ElementColumn.owner] == key {
                rows[reference] = nil
            }
        }
    }

    /// Removes list elements whose owner is gone.
    mutating func dropOrphans() {
        for (reference, row) in rows where schema[reference.classIndex].owner != nil {
            let owner = ObjectReference(
                classIndex: schema.rootClassIndex(of: reference.classIndex), key: row[ElementColumn.owner])
            if rows[owner] == nil { rows[reference] = nil }
        }
    }

    func reference(_ classIndex: Int, _ row: Row) -> ObjectReference {
        ObjectReference(classIndex: classIndex, key: row[schema[classIndex].primaryKeyIndex ?? 0])
    }

    /// The frames from `old` to the present state: new rows whole, others only with their changed columns.
    func frames(from old: [ObjectReference: Row], everything: Bool = false, frameCount: Int = 1) -> [BatchFrame] {
        var frames = (0..<max(1, frameCount)).map { BatchFrame(sequence: $0) }
        var next = 0
        func add(_ row: Row, _ classIndex: Int, columns: [Int], isWhole: Bool) {
            var block = RowBlock(schema: schema, classIndex: classIndex, columns: columns, isWhole: isWhole)
            block.append(row)
            frames[next % frames.count].blocks.append(block)
            next += 1
        }
        for (reference, row) in rows.sorted(by: { order($0.key, $1.key) }) {
            let all = Array(schema[reference.classIndex].columns.indices)
            if !everything, let before = old[reference] {
                let changed = all.filter { before[$0] != row[$0] }
                if !changed.isEmpty { add(row, reference.classIndex, columns: [0] + changed, isWhole: false) }
            } else {
                add(row, reference.classIndex, columns: all, isWhole: true)
            }
        }
        if !everything {
            for reference in old.keys.sorted(by: order) where rows[reference] == nil {
                frames[0].removals.append(ObjectRemoval(classIndex: reference.classIndex, keys: [reference.key]))
            }
        }
        return frames
    }

    private func order(_ left: ObjectReference, _ right: ObjectReference) -> Bool {
        left.classIndex == right.classIndex
            ? Value.sortsBefore(left.key, right.key) : left.classIndex < right.classIndex
    }

    /// The end of the next batch.
    mutating func end(
        acknowledged: Int64 = 0, refusals: [RefusedWrite] = [], replacesAll: Bool = false, frameCount: Int,
        serverTime: Int64? = nil
    ) -> BatchEnd {
        tick += 1
        return BatchEnd(
            position: Position(
                tick: tick, token: tick * 31, subscriptionVersion: subscriptionVersion, rulesFingerprint: .max - 5,
                schemaFingerprint: schema.fingerprint),
            serverTime: Stamp(microseconds: serverTime ?? tick * 1_000), acknowledged: acknowledged,
            refusals: refusals, replacesAll: replacesAll, frameCount: frameCount)
    }
}

/// What a device must show: the server's rows with the pending changesets replayed on top. The rules in their simplest
/// form, to compare stores with.
struct ExpectedContent {
    let schema: Schema
    var rows: [ObjectReference: Row]

    mutating func replay(_ changesets: [Changeset]) {
        for changeset in changesets { for instruction in changeset.instructions { perform(instruction) } }
    }

    mutating func perform(_ instruction: Instruction) {
        let reference = instruction.reference
        let item = schema[reference.classIndex]
        switch instruction {
        case .create(_, let fields):
            let exists = rows[reference] != nil
            var row = rows[reference] ?? Row(item.columns.map { $0.isOptional ? .null : $0.type.zero })
            row[item.primaryKeyIndex ?? 0] = reference.key
            for field in fields where !exists || !field.isDefault { row[field.column] = field.value }
            rows[reference] = row
        case .set(_, let fields):
            guard var row = rows[reference] else { return }
            for field in fields { row[field.column] = field.value }
            rows[reference] = row
        case .add(_, let column, let amount):
            guard var row = rows[reference] else { return }
            let current: Int64 = if case .int(let number) = row[column] { number } else { 0 }
            let sum = current.addingReportingOverflow(amount)
            if !sum.overflow { row[column] = .int(sum.partialValue) }
            rows[reference] = row
        case .erase:
            rows[reference] = nil
            for element in schema.elementClassIndexes(of: reference.classIndex) {
                for (other, row) in rows
                where other.classIndex == element && row[ElementColumn.owner] == reference.key {
                    rows[other] = nil
                }
            }
        }
    }
}
