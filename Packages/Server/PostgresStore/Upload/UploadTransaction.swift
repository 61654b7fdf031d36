internal import Foundation
internal import PostgresClient
internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSyncSession

/// One transaction that applies changesets, effectively exactly once. The steps and their reasons, in order:
///
/// 1. It locks the clients' progress rows in order of their ids. Another gateway with the same changesets waits here,
///    and then finds them applied. Whatever no row could make valid is refused here.
/// 2. It locks the rows that the changesets write, in the order of classes and keys. Link targets are locked only
///    against being deleted.
/// 3. In a later statement, which therefore sees what the locks waited for, it reads the changelog since the oldest
///    base. For many objects it first reads what was deleted (``LockPlan/erasures(after:)``), then only the history of
///    objects that have one. It reads bulk rows only if there are some since the base and a row may have come with
///    one: they are counted and then searched, in one round trip each (``BulkRowSearch``). If a base in the group
///    turns out to be too old, the group is rolled back and started again.
/// 4. The arbiter decides.
/// 5. If something was refused for lack of permission, it writes the rest, reads the users' rights again, and takes
///    the writes back: a trigger of the app may have granted rights, such as an owner's rights to the creator of an
///    object. If the rights have changed, everything from the refusals of step 1 on is decided again, once.
/// 6. It writes progress, receipts and rows, and commits, in one round trip.
struct UploadTransaction {
    enum Mode {
        case together
        /// One changeset, without the instructions that were refused before. Writes are sent one by one as long as
        /// that is affordable, so that an error names its instruction.
        case alone(without: RefusedInstructions)
        case setAside(Refusal, PostgresError)
    }

    /// Up to this many writes of a changeset in its own transaction are sent as separate statements instead of
    /// multi-row ones.
    static let separateWriteLimit = 2_000

    /// A changeset that is to be applied.
    private struct Accepted {
        let position: Int
        var upload: Upload
        let base: StoredTick
        let hash: Int64
        var stamp = Stamp(microseconds: 0)
        var arbitration: Arbitration
    }

    private struct Client {
        let user: String
        let first: Int64
        var last: Int64
        var hashes: [Int64: Int64] = [:]
        /// Whether to apply none of its remaining changesets.
        var isStopped: Bool
    }

    private let group: [Upload]
    private let mode: Mode
    /// Clients of which no further changeset is applied.
    private let stopped: Set<ClientID>
    /// Positions of changesets whose bases an earlier attempt found to be too old.
    private let tooOld: Set<Int>
    /// How long to wait for a row that another transaction has locked.
    private let lockTimeout: Duration
    private let maximumBulkRowCount: Int
    private let layout: StoreLayout
    private let connection: PostgresConnection
    private let check: ChangesetCheck

    private var results: [UploadResult?]
    private var clients: [ClientID: Client] = [:]
    private var bases: [Int64: StoredTick] = [:]
    private var receivedAt = Stamp(microseconds: 0)
    private var accepted: [Accepted] = []
    /// Rows in the trash. A create takes them over.
    private var trashed: [ObjectReference: Row] = [:]

    init(
        group: [Upload], mode: Mode, stopped: Set<ClientID>, tooOld: Set<Int>, lockTimeout: Duration,
        maximumBulkRowCount: Int, layout: StoreLayout, connection: PostgresConnection
    ) {
        self.group = group
        self.mode = mode
        self.stopped = stopped
        self.tooOld = tooOld
        self.lockTimeout = lockTimeout
        self.maximumBulkRowCount = maximumBulkRowCount
        self.layout = layout
        self.connection = connection
        check = layout.arbiter.check
        results = Array(repeating: nil, count: group.count)
    }

    /// - Throws: ``UploadFailure`` for an error of a write, `PostgresError` for others. The transaction has then been
    ///   rolled back, unless the connection broke during its commit. ``OldBases`` if it has to start again without
    ///   some changesets. ``PostgresStoreError/Code/renamed`` if the layout may no longer match the database.
    mutating func run() async throws -> [UploadResult] {
        do {
            return try await runSteps()
        } catch {
            switch connection.transactionStatus {
            case .inTransaction, .inFailedTransaction: _ = try? await connection.execute("ROLLBACK")
            case .idle, .active, .closed: break
            }
            if let cause = error as? PostgresError, cause.code == .lockNotAvailable {
                throw UploadFailure(cause: cause, reference: nil, instruction: nil)
            }
            throw error
        }
    }

    private mutating func runSteps() async throws -> [UploadResult] {
        try await begin()
        for position in group.indices { admit(position) }
        if accepted.isEmpty {
            try await connection.execute("ROLLBACK")
            return finished()
        }
        try await arbitrate()
        if try await renewRights() { try await arbitrate() }
        try await write()
        for item in accepted {
            results[item.position] = .applied(
                lost: item.arbitration.lost, refusals: item.arbitration.refused.told)
        }
        return finished()
    }

    private func finished() -> [UploadResult] { results.map { $0 ?? .unknownBase } }

    // MARK: 1. Progress

    private mutating func begin() async throws {
        let ids = Set(group.map(\.client)).sorted().map { Int64?.some($0.rawValue) }
        let numbers = Set(group.map(\.changeset.number)).sorted().map { Int64?.some($0) }
        let baseNumbers = Set(group.map(\.changeset.base)).sorted().map { Int64?.some($0) }
        let milliseconds = lockTimeout / Duration.milliseconds(1)
        let settings: [PostgresStatement] = [
            "BEGIN ISOLATION LEVEL READ COMMITTED",
            PostgresStatement("SET LOCAL lock_timeout = \(Int(milliseconds))"),
            // Short statements over partitions look expensive enough to be JIT-compiled.
            "SET LOCAL jit = off",
            // A new table has no statistics, and the planner would compare each of its rows with each key.
            "SET LOCAL enable_seqscan = off",
        ]
        let questions: [PostgresStatement] = [
            PostgresStatement(
                "SELECT id, user_id, last FROM tombolo.client WHERE id = ANY ($1) ORDER BY id FOR UPDATE",
                [.int64Array(ids)]),
            PostgresStatement(
                "SELECT client, number, hash FROM tombolo.receipt WHERE client = ANY ($1) AND number = ANY ($2)",
                [.int64Array(ids), .int64Array(numbers)]),
            PostgresStatement(
                "SELECT \(StoredTick.columns) FROM tombolo.tick WHERE number = ANY ($1)", [.int64Array(baseNumbers)]),
            PostgresStatement("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, \(LockPlan.isWhole)"),
        ]
        let answers = Array(try await connection.pipeline(settings + questions).dropFirst(settings.count))
        for row in answers[0] {
            let last = try row[2].int64
            let client = ClientID(rawValue: try row[0].int64)
            clients[client] = Client(
                user: try row[1].string, first: last, last: last, isStopped: stopped.contains(client))
        }
        for row in answers[1] {
            clients[ClientID(rawValue: try row[0].int64)]?.hashes[try row[1].int64] = try row[2].int64
        }
        // A client at tick 0 saw nothing. Everything that ever happened is concurrent, and must still be in the
        // changelog.
        if try answers[3][0][1].bool { bases[0] = StoredTick(tick: .origin, exported: "", firstSequence: -1) }
        for row in answers[2] {
            let stored = try StoredTick(row)
            bases[stored.tick.number] = stored
        }
        receivedAt = Stamp(microseconds: try answers[3][0][0].int64)
    }

    /// Decides whether a changeset is to be applied.
    private mutating func admit(_ position: Int) {
        let upload = group[position]
        let number = upload.changeset.number
        guard var client = clients[upload.client] else {
            results[position] = .gap(expected: 0)
            return
        }
        let isReadable = check.isReadable(upload.changeset)
        // A changeset that is sent again may have been accepted when its classes and properties had other names.
        let hash = isReadable ? upload.changeset.originalFingerprint(in: layout.schema) : 0
        if number <= client.last {
            let known = client.hashes[number]
            let isKnown = known == hash || isReadable && known == upload.changeset.fingerprint(in: layout.schema)
            results[position] = isKnown ? .duplicate : .conflict
        } else if client.isStopped || number > client.last + 1 {
            results[position] = .gap(expected: client.last + 1)
        } else if let base = bases[upload.changeset.base], !tooOld.contains(position) {
            accepted.append(
                Accepted(
                    position: position, upload: upload, base: base, hash: hash,
                    arbitration: Arbitration(refused: refusedBeforehand(upload))))
            client.last = number
            client.hashes[number] = hash
        } else {
            results[position] = .unknownBase
        }
        client.isStopped = client.isStopped || results[position]?.stopsItsClient == true
        clients[upload.client] = client
    }

    /// What can be refused without reading the rows, which are then not locked.
    private func refusedBeforehand(_ upload: Upload) -> RefusedInstructions {
        var refused = RefusedInstructions()
        switch mode {
        case .together: break
        case .alone(let known): refused = known
        case .setAside(let refusal, _): refused.refuseEverything(of: upload.changeset, refusal)
        }
        check.refuseInvalid(in: upload.changeset, &refused)
        check.refuseDenied(in: upload.changeset, denial: upload.denial, &refused)
        return refused
    }

    // MARK: 2–4. Rows, changelog, arbitration

    /// Locks and loads what the changesets touch, and lets the arbiter decide.
    private mutating func arbitrate() async throws {
        var arbiter = layout.arbiter
        trashed = [:]
        let changesets = accepted.map { $0.arbitration.refused.applied(of: $0.upload.changeset, in: layout.schema) }
        guard changesets.contains(where: { !$0.instructions.isEmpty }) else { return }
        let plan = try LockPlan(changesets: changesets, arbiter: arbiter, layout: layout)
        arbiter.expect(objectCount: plan.written.count, repeated: plan.repeated)
        if case .alone = mode, changesets[0].instructions.count <= Self.separateWriteLimit {
            arbiter.sumsAdditions = false
        }
        let loaded = try await load(plan, changesets)
        for (reference, row) in loaded.rows { arbiter.load(reference, row) }
        for (reference, row) in trashed { arbiter.load(reference, trashed: row) }
        for entry in loaded.entries { arbiter.load(entry) }
        for index in accepted.indices {
            let upload = accepted[index].upload
            let base = accepted[index].base.tick
            let stamp = upload.changeset.stamp.clamped(from: base.time, to: receivedAt)
            accepted[index].stamp = stamp
            accepted[index].arbitration = arbiter.apply(
                upload.changeset, from: upload.client, stamp: stamp, base: base.snapshot, permit: upload.permit,
                sees: upload.sees, without: accepted[index].arbitration.refused, isChecked: true)
        }
    }

    private struct Loaded {
        var rows: [ObjectReference: Row?] = [:]
        var entries: [LogEntry] = []
    }

    private mutating func load(_ plan: LockPlan, _ changesets: [Changeset]) async throws -> Loaded {
        var statements = plan.locks.map(\.statement)
        let usedBases = accepted.map(\.base)
        let bound = usedBases.map(\.firstSequence).min() ?? -1
        let oldest = usedBases.map(\.tick.snapshot.xmin).min() ?? 0
        let erasuresFirst = plan.written.count >= LockPlan.erasuresFirstCount
        statements.append(
            erasuresFirst
                ? plan.erasures(after: bound) : plan.changelog(of: plan.written, after: bound, from: oldest))
        let baseNumbers = Set(usedBases.map(\.tick.number)).sorted()
        statements.append(plan.bases(baseNumbers, andBulkRowsAfter: bound))
        // From here on, the locks keep the tables from being renamed.
        statements.append(PostgresStatement(SchemaDigest.query))
        let answers = try await connection.pipeline(statements)
        guard try answers[plan.locks.count + 2][0][0].string == layout.digest else {
            throw PostgresStoreError.renamedMeanwhile
        }
        var loaded = Loaded()
        let bases = answers[plan.locks.count + 1][0]
        let next: UInt64 = try Self.transactionNumber(try bases[1].string)
        var writers: [ObjectReference: UInt32] = [:]
        for (lock, answer) in zip(plan.locks, answers) {
            let item = try layout.layout(lock.classIndex)
            for index in answer.indices {
                let found = try item.row(answer, index)
                let reference = ObjectReference(classIndex: lock.classIndex, key: found.row[item.keyIndex])
                if lock.isWritten, !item.isElement {
                    writers[reference] = try Self.transactionNumber(try answer[index, item.selectCount].string)
                }
                if found.isTrashed {
                    trashed[reference] = found.row
                } else {
                    loaded.rows[reference] = found.row
                }
            }
        }
        guard try bases[0].int == baseNumbers.count else { throw OldBases.dropped }
        var history: PostgresResult? = answers[plan.locks.count]
        if erasuresFirst {
            let changed = try plan.changed(answers[plan.locks.count]) { loaded.rows[$0] != nil || trashed[$0] != nil }
            let question = plan.changelog(of: changed, after: bound, from: oldest)
            history = changed.isEmpty ? nil : try await ask([question], baseNumbers)[0]
        }
        var entries = try history.map { try Self.entries($0, layout) } ?? []
        if try bases[2].bool, !writers.isEmpty {
            let search = BulkRowSearch(
                written: changesets.map { Set($0.instructions.map(\.reference)) }, bases: usedBases, writers: writers,
                next: next,
                limit: maximumBulkRowCount, layout: layout)
            let creates = try await bulkCreates(search, baseNumbers)
            if !creates.isEmpty { entries = (entries + creates).sorted { $0.sequence < $1.sequence } }
        }
        loaded.entries = entries.map(\.entry)
        return loaded
    }

    /// - Throws: ``OldBases`` if there is too much to search since some bases, or if a base is gone.
    private func bulkCreates(
        _ search: BulkRowSearch, _ baseNumbers: [Int64]
    ) async throws -> [(sequence: Int64, entry: LogEntry)] {
        guard !search.isEmpty else { return [] }
        // To sort them, the planner would read all of them.
        let counted = try await ask(
            ["SET LOCAL enable_sort = off", search.counts(), "SET LOCAL enable_sort = on"], baseNumbers)
        let counts = try search.counts(counted[1])
        let positions = search.positionsBeyondBound(counts).map { accepted[$0].position }
        guard positions.isEmpty else { throw OldBases(positions: Set(positions)) }
        guard !counts.isEmpty else { return [] }
        return try Self.entries(try await ask([search.creates()], baseNumbers)[0], layout)
    }

    /// Asks the changelog something else.
    /// - Throws: ``OldBases`` if a base is gone by now, and perhaps some of what followed it.
    private func ask(_ statements: [PostgresStatement], _ baseNumbers: [Int64]) async throws -> [PostgresResult] {
        let answers = try await connection.pipeline(statements + [LockPlan.bases(baseNumbers)])
        guard try answers[statements.count][0][0].int == baseNumbers.count else { throw OldBases.dropped }
        return answers
    }

    private static func transactionNumber<Number: FixedWidthInteger>(_ text: String) throws -> Number {
        guard let number = Number(text) else {
            throw PostgresStoreError(.corrupt, "PostgreSQL returned a transaction number that can't be read.")
        }
        return number
    }

    private static func entries(
        _ answer: PostgresResult, _ layout: StoreLayout
    ) throws -> [(sequence: Int64, entry: LogEntry)] {
        try answer.compactMap { row in try LogEntry(row, layout).map { (try row[9].int64, $0) } }
    }

    // MARK: 5. Rights

    /// For users who had something refused, reads the rights that they have after the accepted writes, and takes the
    /// decisions back.
    /// - Returns: whether anything has to be decided again.
    private mutating func renewRights() async throws -> Bool {
        if case .setAside = mode { return false }
        var renewals: [ClientID: @Sendable (any UploadDatabase) async throws -> UploadRights?] = [:]
        for item in accepted where item.arbitration.refused.told.contains(where: { $0.code == .notPermitted }) {
            renewals[item.upload.client] = item.upload.renewed
        }
        guard !renewals.isEmpty else { return false }
        let found = try await rights(renewals)
        guard !found.isEmpty else { return false }
        for index in accepted.indices {
            if let others = found[accepted[index].upload.client] {
                accepted[index].upload = accepted[index].upload.permitting(also: others)
            }
            accepted[index].arbitration = Arbitration(refused: refusedBeforehand(accepted[index].upload))
        }
        return true
    }

    private func rights(
        _ renewals: [ClientID: @Sendable (any UploadDatabase) async throws -> UploadRights?]
    ) async throws -> [ClientID: UploadRights] {
        var compiler = WriteCompiler(layout: layout, trashed: Set(trashed.keys), joins: true)
        try appendRows(to: &compiler)
        var rights: [ClientID: UploadRights] = [:]
        try await connection.execute("SAVEPOINT tombolo_rights")
        do {
            try await connection.pipeline(compiler.statements)
            let database = PostgresUploadDatabase(connection: connection)
            for (client, renewed) in renewals { rights[client] = try await renewed(database) }
        } catch let error as PostgresError where !error.isRetryable {
            // The real write meets the same error again, and can attribute it.
            rights = [:]
        }
        try await connection.execute("ROLLBACK TO SAVEPOINT tombolo_rights; RELEASE SAVEPOINT tombolo_rights")
        return rights
    }

    // MARK: 6. Writing

    private func appendRows(to compiler: inout WriteCompiler) throws {
        for item in accepted {
            guard !item.arbitration.writes.isEmpty, let client = clients[item.upload.client] else { continue }
            try compiler.append(
                item.arbitration,
                from: WriteCompiler.Origin(
                    stamp: item.stamp, client: item.upload.client, number: item.upload.changeset.number,
                    user: client.user))
        }
        try compiler.finish()
    }

    private func write() async throws {
        let separately: Bool =
            if case .alone = mode, let item = accepted.first {
                item.arbitration.writes.count <= Self.separateWriteLimit
            } else { false }
        var compiler = WriteCompiler(layout: layout, trashed: Set(trashed.keys), joins: !separately)
        compiler.append(progressStatement())
        compiler.append(try receiptStatement())
        if case .setAside(_, let cause) = mode { compiler.append(setAsideStatement(cause)) }
        try appendRows(to: &compiler)
        compiler.append("COMMIT")
        let answers: [PostgresResult]
        do {
            answers = try await connection.pipeline(compiler.statements)
        } catch let error as PostgresError {
            let source = error.statementIndex.flatMap { compiler.sources[$0] }
            throw UploadFailure(cause: error, reference: source?.reference, instruction: source?.instruction)
        }
        let moved = Set(accepted.map(\.upload.client)).count
        guard answers[0].affectedRows == moved, answers.last?.commandTag == "COMMIT" else {
            throw PostgresStoreError(
                .corrupt, "The progress of \(moved) clients was recorded for \(answers[0].affectedRows) of them.")
        }
    }

    /// Advances each client's progress and records that in the changelog, so that a tick follows even if no row
    /// changed. The entry has the number of the first new changeset and, for the audit log, the address that the
    /// changesets came from.
    private func progressStatement() -> PostgresStatement {
        let moved = clients.filter { $0.value.last > $0.value.first }.sorted { $0.key < $1.key }
        var addresses: [ClientID: String] = [:]
        for item in accepted {
            addresses[item.upload.client] = item.upload.address?.shortened(toByteCount: AuditSchema.authorByteCount)
        }
        return PostgresStatement(
            """
            WITH moved AS (UPDATE tombolo.client AS c SET last = v.last, seen_at = clock_timestamp() \
            FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $5::text[]) AS v (id, first, last, address) \
            WHERE c.id = v.id AND c.last = v.first RETURNING c.id, v.first, v.address) \
            INSERT INTO tombolo.changelog (class, key, operation, stamp, client, number, root) \
            SELECT \(SchemaIdentifiers.progressClass), id::text, 'p', $4, id, first + 1, address FROM moved
            """,
            [
                .int64Array(moved.map { $0.key.rawValue }), .int64Array(moved.map { $0.value.first }),
                .int64Array(moved.map { $0.value.last }), .int64(receivedAt.microseconds),
                .textArray(moved.map { addresses[$0.key] }),
            ])
    }

    private func receiptStatement() throws -> PostgresStatement {
        PostgresStatement(
            """
            INSERT INTO tombolo.receipt (client, number, hash, refusals) \
            SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::json[])
            """,
            [
                .int64Array(accepted.map { $0.upload.client.rawValue }),
                .int64Array(accepted.map { $0.upload.changeset.number }), .int64Array(accepted.map { $0.hash }),
                .textArray(try accepted.map { try StoredRefusal.json($0.arbitration.refused.told) }),
            ])
    }

    private static func shortened(_ text: String) -> String { text.shortened(toByteCount: StoreLimits.textLength) }

    private func setAsideStatement(_ cause: PostgresError) -> PostgresStatement {
        let upload = accepted[0].upload
        return PostgresStatement(
            """
            INSERT INTO tombolo.set_aside (client, number, sqlstate, message, changeset) \
            VALUES ($1, $2, $3, $4, $5)
            """,
            [
                .int64(upload.client.rawValue), .int64(upload.changeset.number), .text(cause.code.rawValue),
                .text(Self.shortened(cause.message)), .json(ChangesetJSON.text(upload.changeset, in: layout.schema)),
            ])
    }
}
