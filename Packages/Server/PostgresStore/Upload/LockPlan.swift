internal import PostgresClient
internal import PostgresValues
internal import TomboloChangesets
internal import TomboloModel

/// The rows that a group of changesets locks and reads, in the order in which every upload locks.
struct LockPlan {
    struct Lock {
        let classIndex: Int
        let statement: PostgresStatement
        /// Whether the rows are written. If so, their last column is the transaction that last wrote them.
        var isWritten = false
    }

    /// With at least this many written objects, deletions are read before any object's history. Most objects of such
    /// a group are new and have no history, and looking for it costs as much per object as inserting it. The extra
    /// step costs a round trip.
    static let erasuresFirstCount = 64
    /// The most deletions of a class since the oldest base to read. With more, the history of every object is looked
    /// up.
    static let maximumErasureCount = 1_000

    /// By class. A class that has a list comes before the list's elements.
    private(set) var locks: [Lock] = []
    let written: [ObjectReference]
    /// Objects that more than one instruction writes.
    private(set) var repeated: Set<ObjectReference> = []
    private let layout: StoreLayout

    init(changesets: [Changeset], arbiter: Arbiter, layout: StoreLayout) throws {
        self.layout = layout
        var written = Set<ObjectReference>(minimumCapacity: changesets.reduce(0) { $0 + $1.instructions.count })
        var linked: Set<ObjectReference> = []
        var erasedClasses: Set<Int> = []
        for changeset in changesets {
            arbiter.collectReferences(of: changeset, &written, &linked, &repeated)
            for instruction in changeset.instructions {
                if case .erase(let reference) = instruction { erasedClasses.insert(reference.classIndex) }
            }
        }
        linked.subtract(written)
        self.written = Array(written)
        var writtenKeys: [Int: [Value]] = [:]
        var linkedKeys: [Int: [Value]] = [:]
        for reference in written { writtenKeys[reference.classIndex, default: []].append(reference.key) }
        for reference in linked { linkedKeys[reference.classIndex, default: []].append(reference.key) }
        for item in layout.classes.compactMap({ $0 }) {
            // All elements have the root object as their owner, including elements inside other elements.
            let elementClasses = item.isElement ? [] : layout.schema.elementClassIndexes(of: item.classIndex)
            let elements = elementClasses.compactMap { index in
                layout.classes[index].flatMap { item in writtenKeys[index].map { (item, $0) } }
            }
            let keys = writtenKeys[item.classIndex] ?? []
            if !keys.isEmpty {
                try addWritten(item, keys, isErasing: erasedClasses.contains(item.classIndex) && !item.item.isTrashable)
            }
            let targets = linkedKeys[item.classIndex] ?? []
            if !targets.isEmpty || !elements.isEmpty {
                try addReferenced(item, targets, except: keys, elements)
            }
        }
    }

    private mutating func addWritten(_ item: ClassLayout, _ keys: [Value], isErasing: Bool) throws {
        let strength = isErasing ? "UPDATE" : "NO KEY UPDATE"
        locks.append(
            Lock(
                classIndex: item.classIndex,
                statement: try PostgresStatement(
                    "SELECT \(item.selectList("t")), t.xmin::text FROM \(item.table) AS t WHERE t.\(item.key) = ANY ($1) "
                        + "ORDER BY t.\(item.key) FOR \(strength)", [PostgresParameter(list: keys, of: item.keyType)]),
                isWritten: true))
    }

    /// Locks link targets, and the objects that have the written elements in their lists, because their permissions
    /// decide.
    ///
    /// The query collects their keys before it looks up the rows: with a subquery beside an OR, PostgreSQL would
    /// compare it with each row of the table.
    private mutating func addReferenced(
        _ item: ClassLayout, _ targets: [Value], except written: [Value], _ elements: [(ClassLayout, [Value])]
    ) throws {
        var parameters = try [targets, written].map { try PostgresParameter(list: $0, of: item.keyType) }
        var keys = "SELECT unnest($1)"
        for (element, elementKeys) in elements {
            parameters.append(try PostgresParameter(list: elementKeys, of: element.keyType))
            keys +=
                " UNION ALL SELECT e.\(element.names[ElementColumn.owner]) FROM \(element.table) AS e "
                + "WHERE e.\(element.key) = ANY ($\(parameters.count))"
        }
        let wanted = elements.isEmpty ? "$1" : "ARRAY(\(keys))"
        locks.append(
            Lock(
                classIndex: item.classIndex,
                statement: PostgresStatement(
                    "SELECT \(item.selectList("t")) FROM \(item.table) AS t WHERE t.\(item.key) = ANY (\(wanted)) "
                        + "AND NOT t.\(item.key) = ANY ($2) ORDER BY t.\(item.key) FOR KEY SHARE", parameters)))
    }

    /// Asks for deletions since the oldest base: for each written class, one more than ``maximumErasureCount`` at
    /// most.
    func erasures(after sequence: Int64) -> PostgresStatement {
        let classes = Set(written.map(\.classIndex)).compactMap { layout.classes[$0].map { String($0.id) } }.sorted()
        return PostgresStatement(
            """
            SELECT e.class, e.key FROM unnest($1::smallint[]) AS d (class) CROSS JOIN LATERAL (\
            SELECT l.class, l.key FROM tombolo.changelog AS l WHERE l.class = d.class AND l.operation = 'e' \
            AND l.seq > $2 LIMIT \(Self.maximumErasureCount + 1)) AS e
            """, [.untyped("{\(classes.joined(separator: ","))}"), .int64(sequence)])
    }

    /// The written objects that may have a history since the oldest base. An object without a row, in the trash or
    /// not, has one only if it was deleted.
    /// - Parameters:
    ///   - isThere: whether the object has a row.
    ///   - erasures: the answer to ``erasures(after:)``.
    func changed(_ erasures: PostgresResult, isThere: (ObjectReference) -> Bool) throws -> [ObjectReference] {
        var counts: [Int: Int] = [:]
        var erased: Set<ObjectReference> = []
        for row in erasures {
            guard let index = layout.classIndexByID[Int16(truncatingIfNeeded: try row[0].int64)] else { continue }
            counts[index, default: 0] += 1
            erased.insert(ObjectReference(classIndex: index, key: try layout.key(row[1], of: try layout.layout(index))))
        }
        return written.filter { reference in
            isThere(reference) || erased.contains(reference)
                || counts[reference.classIndex, default: 0] > Self.maximumErasureCount
        }
    }

    /// Asks what happened to objects since the oldest base. The arbiter works out what each base sees.
    ///
    /// Entries are found by class and key. `IS TRUE` keeps the planner from using the index on `xid`: its statistics
    /// know little about the newest entries, so the planner would scan everything since the base for each object.
    func changelog(of objects: [ObjectReference], after sequence: Int64, from xid: UInt64) -> PostgresStatement {
        // No entry in the changelog has a NULL key, so a NULL finds nothing.
        let classes = objects.map { layout.classes[$0.classIndex].map { Int32($0.id) } }
        let keys = PostgresParameter.array(of: .text, objects) { KeyText.append($0.key, to: &$1) }
        return PostgresStatement(
            """
            SELECT c.class, c.key, c.operation, c.columns, c.old[array_position(c.columns, 0::smallint)], c.marks, \
            c.xid::text, c.stamp, c.client, c.seq \
            FROM unnest($1::integer[], $2::text[]) AS k (class, key) CROSS JOIN LATERAL (\
            SELECT * FROM tombolo.changelog AS l WHERE l.class = k.class::smallint AND l.key = k.key \
            AND l.seq > $3 AND (l.xid >= $4::xid8) IS TRUE OFFSET 0) AS c ORDER BY c.seq
            """,
            [.int32Array(classes), keys, .int64(sequence), .untyped(String(xid))])
    }

    /// SQL for whether the changelog still goes back to its beginning. That ends with the first floor, even if the
    /// floor is the first tick.
    static let isWhole = "NOT EXISTS (SELECT FROM tombolo.retention)"

    /// SQL for how many of the bases in `$1` still exist. Base 0 exists while the changelog is whole.
    private static let baseCount =
        "count(*) + (CASE WHEN 0 = ANY ($1) AND \(isWhole) THEN 1 ELSE 0 END)"

    /// Asks how many of the bases still exist. To be asked after the changelog has been read: as long as a base
    /// exists, nothing after it has been dropped.
    static func bases(_ numbers: [Int64]) -> PostgresStatement {
        PostgresStatement(
            "SELECT \(baseCount) FROM tombolo.tick WHERE number = ANY ($1)", [.int64Array(numbers.map { $0 })])
    }

    /// The same, plus the next transaction number, and whether the written classes have ``BulkRow``s since then.
    func bases(_ numbers: [Int64], andBulkRowsAfter sequence: Int64) -> PostgresStatement {
        let items = Set(written.map(\.classIndex)).compactMap { layout.classes[$0] }.filter { !$0.isElement }
        let classes = items.map { String(BulkRow.classNumber(of: $0.id)) }.sorted()
        return PostgresStatement(
            """
            SELECT \(Self.baseCount), pg_snapshot_xmax(pg_current_snapshot())::text, \
            EXISTS (SELECT FROM unnest($2::smallint[]) AS d (class) CROSS JOIN LATERAL (\
            SELECT FROM tombolo.changelog AS l WHERE l.class = d.class AND l.key > \(BulkRow.key("$3::bigint")) \
            AND l.seq > $3 ORDER BY l.key LIMIT 1) AS l) \
            FROM tombolo.tick WHERE number = ANY ($1)
            """,
            [
                .int64Array(numbers.map { $0 }),
                .untyped("{\(classes.joined(separator: ","))}"), .int64(max(sequence, 0)),
            ])
    }
}
