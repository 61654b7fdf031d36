internal import PostgresClient
internal import PostgresValues
internal import TomboloChangesets
internal import TomboloModel

/// Which rows a group of changesets locks and reads, in the order in which every upload locks.
struct LockPlan {
    struct Lock {
        let classIndex: Int
        let statement: PostgresStatement
        /// Whether the rows are written, and come with the transactions that wrote them last, after their other columns.
        var isWritten = false
    }

    /// From so many written objects on, a look at what was deleted comes before looking their history up: most objects of such
    /// a group are new and have none, and looking for it costs as much for each as inserting it. It takes one more round trip.
    static let erasuresFirstCount = 64
    /// Deletions of a class since the oldest base that are looked at. After more, every object's history is looked up.
    static let maximumErasureCount = 1_000

    /// By class: the class that has a list before the list's elements.
    private(set) var locks: [Lock] = []
    let written: [ObjectReference]
    /// Objects that several instructions write.
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
            // All elements name the object at the root as their owner, those inside other elements too.
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

    /// Link targets, and the objects that have the written elements in their lists, whose permissions decide.
    ///
    /// Their keys are put together before the rows are looked up: PostgreSQL would compare each row of the table with a
    /// subquery that stands beside an OR.
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

    /// Deletions since the oldest base, of each written class no more than one beyond ``maximumErasureCount``.
    func erasures(after sequence: Int64) -> PostgresStatement {
        let classes = Set(written.map(\.classIndex)).compactMap { layout.classes[$0].map { String($0.id) } }.sorted()
        return PostgresStatement(
            """
            SELECT e.class, e.key FROM unnest($1::smallint[]) AS d (class) CROSS JOIN LATERAL (\
            SELECT l.class, l.key FROM tombolo.changelog AS l WHERE l.class = d.class AND l.operation = 'e' \
            AND l.seq > $2 LIMIT \(Self.maximumErasureCount + 1)) AS e
            """, [.untyped("{\(classes.joined(separator: ","))}"), .int64(sequence)])
    }

    /// The written objects that have a history since the oldest base: of those that aren't there, in the trash or not, only
    /// those that were deleted.
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

    /// What happened to objects since the oldest base; the arbiter sorts out what each base sees.
    ///
    /// Found by class and key: `IS TRUE` keeps the planner from using the index on `xid`, whose statistics know little of
    /// the newest, and so from going through all that happened since for each object.
    func changelog(of objects: [ObjectReference], after sequence: Int64, from xid: UInt64) -> PostgresStatement {
        // The changelog names no object by NULL.
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

    /// SQL for whether the changelog reaches back to its beginning. The first floor ends that, even if it's the first tick.
    static let isWhole = "NOT EXISTS (SELECT FROM tombolo.retention)"

    /// SQL for how many of the bases in `$1` are still there; 0 is there while the changelog is whole.
    private static let baseCount =
        "count(*) + (CASE WHEN 0 = ANY ($1) AND \(isWhole) THEN 1 ELSE 0 END)"

    /// How many of the bases are still there. For after the changelog has been read: while a base is there, nothing after it
    /// has been dropped.
    static func bases(_ numbers: [Int64]) -> PostgresStatement {
        PostgresStatement(
            "SELECT \(baseCount) FROM tombolo.tick WHERE number = ANY ($1)", [.int64Array(numbers.map { $0 })])
    }

    /// The same, with the next transaction number, and whether ``BulkRow``s of the written classes came since.
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
