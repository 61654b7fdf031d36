internal import PostgresClient
internal import TomboloChangesets
internal import TomboloModel

/// Searches the ``BulkRow``s that came after the bases of a group's changesets for creates of the objects that they
/// write. For each class, it goes back to the oldest base of a changeset that writes an object of this class which
/// may have been created since.
///
/// The search runs while the objects are locked, and any device may upload from an old base again and again. So it
/// has a bound, ``maximumRowCount``. A base beyond the bound affects no other changeset: the group is retried without
/// the changesets that have it. It doesn't last either: what the device's next base sees doesn't count, even while a
/// long transaction holds back the next tick's ``StoredTick/firstSequence``.
struct BulkRowSearch {
    /// The most bulk rows since a changeset's base, over all its classes that are searched. They stand for about a
    /// million objects inserted by plain SQL.
    static let maximumRowCount = 32_768

    /// A changeset that writes objects which may have been created since its base.
    private struct Asker {
        let position: Int
        let base: StoredTick
        let classes: Set<Int>
    }

    /// Up to this many keys are compared with a bulk row's keys directly. With more, the bulk row is unnested.
    private static let comparedKeyLimit = 8

    private let layout: StoreLayout
    private let limit: Int
    private var askers: [Asker] = []
    private var references: Set<ObjectReference> = []
    /// By class: the oldest base among the askers.
    private var since: [Int: StoredTick] = [:]

    /// - Parameters:
    ///   - written: what each changeset writes, in the order of the group.
    ///   - bases: each changeset's base.
    ///   - writers: for each existing object, the lower 32 bits of the number of the transaction that last wrote it.
    ///   - next: a transaction number that hadn't been assigned yet, or only just, when the rows had been read.
    ///   - limit: see ``maximumRowCount``.
    init(
        written: [Set<ObjectReference>], bases: [StoredTick], writers: [ObjectReference: UInt32], next: UInt64,
        limit: Int, layout: StoreLayout
    ) {
        self.layout = layout
        self.limit = limit
        for (position, (written, base)) in zip(written, bases).enumerated() {
            let new = written.filter { reference in
                writers[reference].map { Self.mayBeNew($0, next: next, since: base.tick.snapshot) } ?? false
            }
            guard !new.isEmpty else { continue }
            let classes = Set(new.map(\.classIndex))
            askers.append(Asker(position: position, base: base, classes: classes))
            references.formUnion(new)
            for index in classes where since[index].map({ base.tick.number < $0.tick.number }) ?? true {
                since[index] = base
            }
        }
    }

    /// Whether no changeset writes an object that may have been created since its base.
    var isEmpty: Bool { askers.isEmpty }

    /// Whether a row may have been created after a base. It wasn't if the base sees the transaction that last wrote
    /// the row: that transaction either created the row itself, or the creation was committed before it.
    static func mayBeNew(_ writer: UInt32, next: UInt64, since base: Snapshot) -> Bool {
        let age = UInt32(truncatingIfNeeded: next) &- writer
        // PostgreSQL freezes rows before they get that old, so this row was written meanwhile, or is frozen.
        guard age < UInt32(Int32.max), UInt64(age) <= next else { return true }
        return !base.sees(next - UInt64(age))
    }

    // MARK: Counting

    /// Asks how many bulk rows there are to search, by class and transaction: for each class the newest, up to one
    /// more than the bound. Needs `enable_sort` off, because without statistics the planner considers sorting them
    /// all to be cheap.
    func counts() throws -> PostgresStatement {
        let (parameters, classes) = try searchedClasses(from: 1)
        return PostgresStatement(
            """
            SELECT b.class, b.xid::text, count(*) FROM \(classes) CROSS JOIN LATERAL (\
            SELECT d.class, l.xid FROM tombolo.changelog AS l WHERE \(Self.isSearched) \
            ORDER BY l.key DESC LIMIT $\(parameters.count + 1)) AS b GROUP BY b.class, b.xid
            """, parameters + [.int64(Int64(limit) + 1)])
    }

    /// The result of ``counts()``.
    struct Counts {
        /// For each class, by descending transaction number.
        fileprivate let byClass: [Int: [(xid: UInt64, rows: Int)]]

        /// Whether there is nothing to search.
        var isEmpty: Bool { byClass.isEmpty }
    }

    func counts(_ answer: PostgresResult) throws -> Counts {
        var byClass: [Int: [(xid: UInt64, rows: Int)]] = [:]
        for row in answer {
            guard let id = BulkRow.classID(Int16(truncatingIfNeeded: try row[0].int64)),
                let index = layout.classIndexByID[id], let xid = UInt64(try row[1].string)
            else { throw PostgresStoreError(.corrupt, "A bulk row of the changelog has an unknown class.") }
            byClass[index, default: []].append((xid, try row[2].int))
        }
        return Counts(byClass: byClass.mapValues { $0.sorted { $0.xid > $1.xid } })
    }

    /// The positions of changesets whose bases are beyond the bound. If there are none, everything to search has been
    /// counted, because the oldest base of a class sees none of the rows that were counted for it.
    ///
    /// A newer base may see some of the counted rows while there are older, uncounted rows that it doesn't see, but
    /// only after a long transaction. Such a changeset isn't included here: once the others are gone, the next search
    /// goes back to its own base.
    func positionsBeyondBound(_ counts: Counts) -> Set<Int> {
        Set(askers.filter { rowCount(since: $0, counts) > limit }.map(\.position))
    }

    private func rowCount(since asker: Asker, _ counts: Counts) -> Int {
        let snapshot = asker.base.tick.snapshot
        var sum = 0
        for index in asker.classes {
            for (xid, rows) in counts.byClass[index] ?? [] {
                if xid < snapshot.xmin || sum > limit { break }
                if !snapshot.sees(xid) { sum += rows }
            }
        }
        return sum
    }

    // MARK: Searching

    /// Asks which of the objects were created in bulk rows. The answer has the form of
    /// ``LockPlan/changelog(after:from:)``.
    func creates() throws -> PostgresStatement {
        var bulkClasses: [Int32?] = []
        var ids: [Int32?] = []
        var keys: [String?] = []
        for reference in references {
            guard let text = KeyText.text(reference.key) else { continue }
            let id = try layout.layout(reference.classIndex).id
            ids.append(Int32(id))
            bulkClasses.append(Int32(BulkRow.classNumber(of: id)))
            keys.append(text)
        }
        let (parameters, classes) = try searchedClasses(from: 4)
        return PostgresStatement(
            """
            SELECT k.id::smallint, k.key, 'c', NULL::smallint[], NULL, c.marks, c.xid::text, c.stamp, c.client, c.seq \
            FROM (SELECT d.class, b.marks, b.xid, b.stamp, b.client, b.seq, u.key FROM \(classes) CROSS JOIN LATERAL (\
            SELECT l.marks, l.xid, l.stamp, l.client, l.seq, l.keys FROM tombolo.changelog AS l WHERE \(Self.isSearched) \
            AND (cardinality($3::text[]) > \(Self.comparedKeyLimit) OR l.keys && $3) OFFSET 0) AS b \
            CROSS JOIN LATERAL unnest(b.keys) AS u (key) OFFSET 0) AS c \
            JOIN unnest($1::integer[], $2::integer[], $3::text[]) AS k (id, class, key) \
            ON k.class = c.class AND k.key = c.key
            """, [.int32Array(ids), .int32Array(bulkClasses), .textArray(keys)] + parameters)
    }

    /// A condition for the bulk rows of a class that a base doesn't see. It refers to the table of
    /// ``searchedClasses(from:)``.
    private static let isSearched = """
        l.class = d.class AND l.key > \(BulkRow.key("d.after")) AND l.seq > d.after \
        AND NOT pg_visible_in_snapshot(l.xid, d.seen)
        """

    /// A table `d` of the classes to search, each with the base to search from.
    /// - Parameter number: the number of the first parameter.
    private func searchedClasses(from number: Int) throws -> (parameters: [PostgresParameter], sql: String) {
        let searched = try since.sorted { $0.key < $1.key }.map { index, base in
            (number: BulkRow.classNumber(of: try layout.layout(index).id), base: base)
        }
        return (
            [
                .int32Array(searched.map { Int32($0.number) }),
                .int64Array(searched.map { max($0.base.firstSequence, 0) }),
                .textArray(searched.map { $0.base.tick.snapshot.postgresText }),
            ],
            """
            (SELECT class::smallint, after, seen::pg_snapshot FROM unnest($\(number)::integer[], $\(number + 1)::bigint[], \
            $\(number + 2)::text[]) AS s (class, after, seen) OFFSET 0) AS d
            """
        )
    }
}

extension Snapshot {
    /// PostgreSQL's snapshots begin with transaction 1, which created the catalogs; that snapshot sees just as
    /// little.
    fileprivate var postgresText: String { xmax == 0 ? "1:1:" : description }
}
