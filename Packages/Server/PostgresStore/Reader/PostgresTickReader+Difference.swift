internal import PostgresClient
internal import PostgresValues
internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSyncProtocol

extension PostgresTickReader {
    /// Reads what this tick's snapshot sees but the older tick's doesn't. Rebuilds the rows of the older tick by
    /// putting old values back, newest first.
    func difference(from older: Tick) async throws -> TickDifference {
        guard older.number > 0 else {
            throw PostgresStoreError(.misuse, "There's no difference from the origin: bootstrap instead.")
        }
        guard older.number < tick.number else {
            guard older.number == tick.number else {
                throw PostgresStoreError(
                    .historyLost,
                    "Tick \(older.number) is newer than the newest one, \(tick.number): the database was restored "
                        + "or replaced.")
            }
            return TickDifference(from: older.number, to: tick.number, changes: [], clients: [:])
        }
        guard let base = try await StoredTick.numbered(older.number, connection), base.tick.token == older.token else {
            throw PostgresStoreError(
                .historyLost, "Tick \(older.number) is no longer in the changelog: bootstrap instead.")
        }
        var collection = try await readChangelog(since: base)
        try await loadRows(&collection)
        return TickDifference(
            from: older.number, to: tick.number, changes: try changes(collection), clients: collection.clients,
            accounts: collection.accounts, hasNewDocuments: collection.hasNewDocuments)
    }

    /// The changelog's entries, and the current rows of the objects that they name.
    private struct Collection {
        /// The clients, each with the number of its first new changeset.
        var clients: [ClientID: Int64] = [:]
        var accounts: Set<String> = []
        var hasNewDocuments = false
        /// In the order of their first change.
        private(set) var roots: [Root] = []
        /// Changed elements of each root, in order, and whether their first change made them.
        var touchedElements: [ObjectReference: [ObjectReference]] = [:]
        var createdElements: Set<RootedElement> = []
        /// Current rows of the roots' elements.
        var elementRows: [ObjectReference: Row] = [:]
        var elements: [ObjectReference: [Int: [Row]]] = [:]

        private var positions: [ObjectReference: Int] = [:]
        private var knownElements: Set<RootedElement> = []

        mutating func note(_ element: ObjectReference, of root: ObjectReference, isCreated: Bool) {
            let key = RootedElement(root: root, element: element)
            guard knownElements.insert(key).inserted else { return }
            touchedElements[root, default: []].append(element)
            if isCreated { createdElements.insert(key) }
        }

        /// - Parameter entry: what happened to the object itself.
        mutating func note(_ root: ObjectReference, _ entry: Entry? = nil) {
            if let position = positions[root] {
                if let entry { roots[position].append(entry) }
            } else {
                positions[root] = roots.count
                var root = Root(reference: root)
                if let entry { root.append(entry) }
                roots.append(root)
            }
        }

        mutating func note(_ root: ObjectReference, present: (row: Row, isTrashed: Bool)) {
            if let position = positions[root] { roots[position].present = present }
        }
    }

    /// An object that changed, or whose lists changed.
    private struct Root {
        let reference: ObjectReference
        /// Oldest first. Empty for an object that didn't exist at the older tick, like most uploaded objects.
        private(set) var entries: [Entry] = []
        private(set) var isNew = false
        var present: (row: Row, isTrashed: Bool)?

        init(reference: ObjectReference) { self.reference = reference }

        mutating func append(_ entry: Entry) {
            guard !isNew else { return }
            if entries.isEmpty, entry.operation == .create { isNew = true } else { entries.append(entry) }
        }
    }

    private struct RootedElement: Hashable {
        let root: ObjectReference
        let element: ObjectReference
    }

    private struct Entry {
        enum Operation {
            case create, update, erase
        }

        let operation: Operation
        let columns: [Int64?]
        let old: [String?]

        static let created = Entry(operation: .create, columns: [], old: [])
    }

    // MARK: Changelog

    private func readChangelog(since base: StoredTick) async throws -> Collection {
        let snapshot = base.tick.snapshot
        // Without statistics, the planner would read the whole changelog to find the few newest rows; see also
        // ``loadRows(_:)``.
        let results = try await connection.pipeline([
            "SET LOCAL enable_seqscan = off",
            PostgresStatement(
                """
                SELECT class, key, operation, columns, old, root, number, keys FROM (\
                SELECT seq, class, key, operation, columns, old, root, number, keys FROM tombolo.changelog \
                WHERE seq > $1 AND xid >= $2::xid8 \
                UNION ALL SELECT seq, class, key, operation, columns, old, root, number, keys FROM tombolo.changelog \
                WHERE seq > $1 AND xid = ANY ($3::xid8[])) AS c ORDER BY seq
                """,
                [.int64(base.firstSequence), .untyped(String(snapshot.xmax)), .untyped(snapshot.runningText)]),
        ])
        var collection = Collection()
        for row in results[1] {
            let number = Int16(truncatingIfNeeded: try row[0].int64)
            switch number {
            case SchemaIdentifiers.accountClass:
                collection.accounts.insert(try row[1].string)
                continue
            case SchemaIdentifiers.documentClass:
                collection.hasNewDocuments = true
                continue
            case SchemaIdentifiers.progressClass:
                guard let client = Int64(try row[1].string).map(ClientID.init(rawValue:)) else { continue }
                // A gateway of an earlier version wrote no number. All its refusals are then taken as new.
                let first = try row[6].nonNull?.int64 ?? 1
                collection.clients[client] = min(first, collection.clients[client] ?? first)
                continue
            default: break
            }
            // An unknown class belongs to a newer model.
            let bulk = BulkRow.classID(number)
            guard let index = layout.classIndexByID[bulk ?? number] else { continue }
            let item = try layout.layout(index)
            if bulk != nil {
                for case let key? in try row[7].stringArray {
                    let reference = ObjectReference(classIndex: index, key: try layout.key(key, of: item))
                    collection.note(reference, .created)
                }
                continue
            }
            let reference = ObjectReference(classIndex: index, key: try layout.key(row[1], of: item))
            let operation: Entry.Operation =
                switch try row[2].string {
                case "c": .create
                case "e": .erase
                default: .update
                }
            guard item.isElement else {
                collection.note(
                    reference,
                    Entry(
                        operation: operation, columns: try row[3].nonNull?.int64Array ?? [],
                        old: try row[4].nonNull?.stringArray ?? []))
                continue
            }
            guard let rootText = try row[5].nonNull?.string else { continue }
            let rootIndex = layout.schema.rootClassIndex(of: index)
            let root = ObjectReference(
                classIndex: rootIndex, key: try layout.key(rootText, of: try layout.layout(rootIndex)))
            collection.note(root)
            collection.note(reference, of: root, isCreated: operation == .create)
        }
        return collection
    }

    // MARK: Rows

    /// Loads rows by key, in one round trip: without statistics, the planner would compare every row of a table with
    /// every key. Ends what ``readChangelog(since:)`` began.
    private func loadRows(_ collection: inout Collection) async throws {
        var keys: [Int: [Value]] = [:]
        for root in collection.roots { keys[root.reference.classIndex, default: []].append(root.reference.key) }
        var statements: [PostgresStatement] = []
        var loaded: [(root: Int, item: ClassLayout)] = []
        for (classIndex, keys) in keys.sorted(by: { $0.key < $1.key }) {
            let item = try layout.layout(classIndex)
            let parameter = try PostgresParameter(list: keys, of: item.keyType)
            func load(_ item: ClassLayout, by column: String) {
                loaded.append((classIndex, item))
                statements.append(
                    PostgresStatement(
                        "SELECT \(item.selectList("t")) FROM \(item.table) AS t WHERE t.\(column) = ANY ($1)",
                        [parameter]))
            }
            load(item, by: item.key)
            for elementIndex in layout.schema.elementClassIndexes(of: classIndex) {
                let element = try layout.layout(elementIndex)
                load(element, by: element.names[ElementColumn.owner])
            }
        }
        let results = try await connection.pipeline(statements + ["SET LOCAL enable_seqscan = on"])
        for ((rootIndex, item), result) in zip(loaded, results) {
            for index in result.indices {
                let found = try item.row(result, index)
                let reference = ObjectReference(classIndex: item.classIndex, key: found.row[item.keyIndex])
                guard item.classIndex != rootIndex else {
                    collection.note(reference, present: found)
                    continue
                }
                let root = ObjectReference(classIndex: rootIndex, key: found.row[ElementColumn.owner])
                collection.elements[root, default: [:]][item.classIndex, default: []].append(found.row)
                collection.elementRows[reference] = found.row
            }
        }
    }

    // MARK: Changes

    private func changes(_ collection: Collection) throws -> [RootChange] {
        var changes: [RootChange] = []
        changes.reserveCapacity(collection.roots.count)
        for known in collection.roots {
            let (root, present) = (known.reference, known.present)
            let past = try past(of: known)
            let new = present.flatMap { $0.isTrashed ? nil : $0.row }
            let old = past.flatMap { $0.isTrashed ? nil : $0.row }
            guard old != nil || new != nil else { continue }
            var changedElements: [Int: [Row]] = [:]
            var removedElements: [Int: [Value]] = [:]
            for element in collection.touchedElements[root] ?? [] {
                if let row = collection.elementRows[element], row[ElementColumn.owner] == root.key {
                    changedElements[element.classIndex, default: []].append(row)
                } else if !collection.createdElements.contains(RootedElement(root: root, element: element)) {
                    removedElements[element.classIndex, default: []].append(element.key)
                }
            }
            changes.append(
                RootChange(
                    reference: root, old: old, new: new, elements: new == nil ? [:] : collection.elements[root] ?? [:],
                    changedElements: changedElements, removedElements: removedElements))
        }
        return changes
    }

    /// The row as of the older tick.
    private func past(of root: Root) throws -> (row: Row, isTrashed: Bool)? {
        if root.isNew { return nil }
        let item = try layout.layout(root.reference.classIndex)
        var state = root.present
        for entry in root.entries.reversed() {
            switch entry.operation {
            case .create: state = nil
            case .erase: state = try item.erasedRow(entry.columns, entry.old)
            case .update:
                guard var changed = state else { continue }
                try item.restore(entry.columns, entry.old, &changed.row, &changed.isTrashed)
                state = changed
            }
        }
        return state
    }
}
