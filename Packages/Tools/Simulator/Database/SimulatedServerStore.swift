public import TomboloChangesets
public import TomboloModel
internal import TomboloSyncProtocol
public import TomboloSyncSession

/// The simulated database behind the protocol that PostgreSQL implements in production. Every operation runs all its
/// steps at once, for the conformance suite; simulations run the steps one by one.
///
/// `@unchecked Sendable`: everything mutable is guarded by `gate`.
public final class SimulatedServerStore: ServerStore, @unchecked Sendable {
    /// The schema of the database.
    public let schema: Schema
    private let gate = SimulatedGate()
    private let database: SimulatedDatabase
    private var random: SimulatorRandom
    private var kept: [UInt64: [Int: Predicate]] = [:]

    /// - Parameter now: the server's clock, in microseconds since 1970.
    public init(schema: Schema = SimulatedSchema.schema, seed: UInt64 = 0, now: @escaping @Sendable () -> Int64) {
        self.schema = schema
        database = SimulatedDatabase(schema: schema, now: now)
        random = SimulatorRandom(seed: seed)
    }

    public func makeTick() async throws -> Tick? {
        gate.run {
            guard database.hasNews else { return nil }
            return database.commitTick(
                snapshot: database.snapshot, token: Int64(bitPattern: random.next() >> 1),
                time: Stamp(microseconds: database.now()), epoch: nil, synchronous: true)
        }
    }

    public func latestTick() async throws -> Tick { gate.run { database.latest } }

    public func tick(_ number: Int64) async throws -> Tick? { gate.run { database.tick(number) } }

    public func withReader<Result: Sendable>(
        _ body: @Sendable (any TickReader) async throws -> Result
    ) async throws -> Result {
        let tick = gate.run { database.latest }
        return try await body(SimulatedReader(database: database, gate: gate, tick: tick, blockSize: 100))
    }

    public func openClient(_ client: ClientID, user: String, acknowledged: Int64) async throws -> ClientOpening {
        gate.run { database.openClient(client, user: user, acknowledged: acknowledged) }
    }

    public func keepReadable(_ readable: [Int: Predicate], under rulesFingerprint: UInt64) async throws {
        gate.run { kept[rulesFingerprint] = readable }
    }

    public func readable(under rulesFingerprint: UInt64) async throws -> [Int: Predicate]? {
        gate.run { kept[rulesFingerprint] }
    }

    public func upload(_ uploads: [Upload]) async throws -> [UploadResult] {
        try gate.run {
            let procedure = UploadProcedure(database: database, uploads: uploads)
            while !procedure.isDone {
                guard try procedure.step() else {
                    procedure.abort()
                    throw SimulatedStoreBlocked()
                }
            }
            return procedure.results
        }
    }

    /// Writes like plain SQL: one transaction without a client. Nil deletes a row.
    public func write(_ rows: [(ObjectReference, Row?)]) throws {
        try gate.run {
            let transaction = database.begin()
            do {
                for (reference, row) in rows {
                    let references = [reference] + database.dependents(of: reference, transaction)
                    for reference in references {
                        guard try database.lock(.row(reference), transaction) else { throw SimulatedStoreBlocked() }
                    }
                    var marks: [Int: LogEntry.Mark] = [:]
                    if let row, let old = database.current(reference, transaction) {
                        for column in row.values.indices where row[column] != old[column] { marks[column] = .set }
                    }
                    guard try database.write(reference, row, marks: marks, transaction) else {
                        throw SimulatedStoreBlocked()
                    }
                }
                database.commit(transaction, synchronous: true)
            } catch {
                database.rollBack(transaction)
                throw error
            }
        }
    }

    /// Drops the changelog below a tick, like retention.
    public func dropTicks(below number: Int64) { gate.run { database.drop(below: number) } }
}

/// Thrown if another transaction has a lock, since this store can't wait.
public struct SimulatedStoreBlocked: Error {}

extension SimulatedDatabase {
    func openClient(_ client: ClientID, user: String, acknowledged: Int64) -> ClientOpening {
        let time = Stamp(microseconds: now())
        guard let known = progress(client) else {
            guard acknowledged == 0 else {
                return ClientOpening(
                    last: 0, serverTime: time,
                    mustReset: "The server doesn't know this device; it was restored or replaced.")
            }
            let transaction = begin()
            setProgress(client, Progress(user: user, last: 0, receipts: [:]), transaction)
            commit(transaction, synchronous: true)
            return ClientOpening(last: 0, serverTime: time)
        }
        guard known.user == user else {
            return ClientOpening(
                last: known.last, serverTime: time, mustReset: "This device's file belongs to another user.")
        }
        guard known.last >= acknowledged else {
            return ClientOpening(
                last: known.last, serverTime: time,
                mustReset: "The server knows fewer of this device's changesets than it acknowledged; it was restored.")
        }
        self.acknowledged[client] = max(self.acknowledged[client] ?? 0, acknowledged)
        return ClientOpening(last: known.last, serverTime: time)
    }
}
