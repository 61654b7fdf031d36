internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSyncProtocol
internal import TomboloSyncSession

extension SimulatedDatabase {
    /// The changes between two ticks: rows as of the newer one, and older rows restored from logged old values.
    func difference(
        from: Tick, to: Tick, rowsIn own: Snapshot, cursor: Int64? = nil
    ) -> TickDifference {
        let xids = transactions(after: from.snapshot, upTo: to.snapshot)
        var log = logRows(of: xids)
        if let cursor { log.removeAll { $0.sequence <= cursor } }
        var byReference: [ObjectReference: [LogRow]] = [:]
        for row in log { byReference[row.reference, default: []].append(row) }
        var roots: [ObjectReference: [(reference: ObjectReference, old: Row?, new: Row?)]] = [:]
        for (reference, rows) in byReference.sorted(by: { SimulatedSchema.precedes($0.key, $1.key) }) {
            let new = row(reference, in: own)
            let old = Self.putBack(rows, onto: new)
            if schema[reference.classIndex].owner == nil {
                roots[reference, default: []].append((reference, old, new))
            } else if let owner = (new ?? old)?[ElementColumn.owner] {
                let root = ObjectReference(classIndex: schema.rootClassIndex(of: reference.classIndex), key: owner)
                roots[root, default: []].append((reference, old, new))
            }
        }
        var changes: [RootChange] = []
        for (root, parts) in roots.sorted(by: { SimulatedSchema.precedes($0.key, $1.key) }) {
            let own =
                parts.first { $0.reference == root }
                ?? {
                    let row = row(root, in: own)
                    return (root, row, row)
                }()
            guard own.old != nil || own.new != nil else { continue }
            var changed: [Int: [Row]] = [:]
            var removed: [Int: [Value]] = [:]
            for part in parts where part.reference != root {
                if let row = part.new {
                    changed[part.reference.classIndex, default: []].append(row)
                } else if part.old != nil {
                    removed[part.reference.classIndex, default: []].append(part.reference.key)
                }
            }
            changes.append(
                RootChange(
                    reference: root, old: own.old, new: own.new,
                    elements: own.new == nil ? [:] : elements(of: root, in: to.snapshot),
                    changedElements: changed, removedElements: removed))
        }
        let clients = xids.reduce(into: Set<ClientID>()) { $0.formUnion(changelog[$1]?.clients ?? []) }
        let firsts = clients.map { ($0, (progress($0, in: from.snapshot)?.last ?? 0) + 1) }
        return TickDifference(
            from: from.number, to: to.number, changes: changes,
            clients: Dictionary(firsts, uniquingKeysWith: { first, _ in first }))
    }

    /// The row before the given changelog rows, which are oldest first.
    private static func putBack(_ rows: [LogRow], onto new: Row?) -> Row? {
        var row = new
        for entry in rows.reversed() {
            switch entry.operation {
            case .create: row = nil
            case .erase: row = entry.oldRow
            case .update: for (column, value) in entry.oldValues { row?[column] = value }
            }
        }
        return row
    }

    private func elements(of root: ObjectReference, in snapshot: Snapshot) -> [Int: [Row]] {
        var result: [Int: [Row]] = [:]
        for index in schema.elementClassIndexes(of: root.classIndex) {
            let rows = rows(classIndex: index, in: snapshot) { $0[ElementColumn.owner] == root.key }
            if !rows.isEmpty { result[index] = rows }
        }
        return result
    }

    /// The rows ordered by key.
    func rows(classIndex: Int, in snapshot: Snapshot, where isWanted: (Row) -> Bool) -> [Row] {
        tables.keys.filter { $0.classIndex == classIndex }
            .sorted(by: SimulatedSchema.precedes)
            .compactMap { row($0, in: snapshot) }
            .filter(isWanted)
    }

    func clientProgress(_ client: ClientID, in snapshot: Snapshot) -> ClientProgress {
        let progress = progress(client, in: snapshot)
        let refusals = (progress?.receipts ?? [:]).sorted { $0.key < $1.key }.flatMap { number, receipt in
            number <= acknowledged[client] ?? 0
                ? [] : receipt.refusals.map { RefusedWrite(number: number, refusal: $0) }
        }
        return ClientProgress(last: progress?.last ?? 0, refusals: refusals)
    }
}
