public import TomboloChangesets
public import TomboloModel
public import TomboloSyncProtocol

/// The server's rows with their history. PostgreSQL in production; the simulator has one in memory. One conformance
/// suite runs on every implementation.
public protocol ServerStore: Sendable {
    var schema: Schema { get }

    /// Makes a tick if the database changed since the last one, commits it synchronously, and returns it. Only the
    /// elected sequencer calls it.
    func makeTick() async throws -> Tick?

    /// The newest tick; ``Tick/origin`` in a database that has none.
    func latestTick() async throws -> Tick

    /// A tick by number; nil where there is none, or where its changes were dropped from the changelog.
    func tick(_ number: Int64) async throws -> Tick?

    /// Runs `body` with the database as of a tick that is the newest or nearly so.
    func withReader<Result: Sendable>(
        _ body: @Sendable (any TickReader) async throws -> Result
    ) async throws -> Result

    /// As ``withReader(_:)``, perhaps from a copy of the database that has the newest tick of when this was called. Unlike
    /// there, it may fail in the middle for reasons that another attempt doesn't meet.
    func withBootstrapReader<Result: Sendable>(
        _ body: @escaping @Sendable (any TickReader) async throws -> Result
    ) async throws -> Result

    /// Opens a client's session: creates its progress row where there is none. Refusals up to `acknowledged` are no
    /// longer told; receipts may go with the changelog of their time, not before: a copy of the device's file may
    /// show its changesets again.
    func openClient(_ client: ClientID, user: String, acknowledged: Int64) async throws -> ClientOpening

    /// Keeps what a user may read under a rules fingerprint, by class position, for devices that come back with the
    /// fingerprint when other rules hold. It may be forgotten after the time that the changelog is kept.
    func keepReadable(_ readable: [Int: Predicate], under rulesFingerprint: UInt64) async throws

    /// What was kept under a rules fingerprint, by class position; nil if nothing was, or if it no longer fits the
    /// schema. A class without an entry could not be read.
    func readable(under rulesFingerprint: UInt64) async throws -> [Int: Predicate]?

    /// Applies changesets, in the order given, exactly once in effect. One result for each. A changeset whose number
    /// does not follow the client's last is ``UploadResult/gap``, or, where it was applied or refused before, whatever
    /// its base: ``UploadResult/duplicate`` when ``Changeset/fingerprint(in:)`` is the one in its receipt, otherwise
    /// (also when the receipt is forgotten) ``UploadResult/conflict``. After a changeset with ``UploadResult/gap``,
    /// ``UploadResult/conflict`` or ``UploadResult/unknownBase`` no later one of that client is applied.
    /// One call therefore never mixes two sessions of one client, which copies of its file may have.
    ///
    /// Whether the changelog reaches back to a base is decided after the changelog was read, in the same transaction:
    /// retention may drop it in between. A base that is too old affects only its own client: the rest of the call is applied.
    /// - Throws: when an outcome is unknown; the caller may send the same uploads again. ``UnfinishedUploads`` has the outcomes of
    ///   the clients that nothing went wrong for; after any other error, no outcome is known.
    func upload(_ uploads: [Upload]) async throws -> [UploadResult]
}

extension ServerStore {
    public func withBootstrapReader<Result: Sendable>(
        _ body: @escaping @Sendable (any TickReader) async throws -> Result
    ) async throws -> Result {
        try await withReader(body)
    }
}

/// The database as of one tick. All reads of one reader agree with each other.
public protocol TickReader: Sendable {
    var tick: Tick { get }

    /// What happened since an earlier tick. ``Tick/origin`` is not allowed: bootstrap instead.
    func difference(from: Tick) async throws -> TickDifference

    /// The rows of a class that satisfy the predicate and are not in the trash, in blocks.
    /// - Parameter columns: column positions, the primary key first.
    func rows(
        classIndex: Int, matching: Predicate, columns: [Int], _ body: (RowBlock) async throws -> Void
    ) async throws

    /// The list elements, of one element class, of all objects that satisfy the predicate (on the class that has the
    /// list), in blocks.
    func elements(
        classIndex: Int, ofOwnersMatching: Predicate, columns: [Int], _ body: (RowBlock) async throws -> Void
    ) async throws

    /// How many objects satisfy the predicate, trash excluded; for progress.
    func count(classIndex: Int, matching: Predicate) async throws -> Int

    /// What the database had applied and refused of a client's changesets as of the tick.
    func progress(of client: ClientID) async throws -> ClientProgress

    /// The same of several clients, but only with their refusals from a number on; ``TickDifference/clients`` has the
    /// numbers of what is new. A client may have thousands of older ones, which its session knows already.
    func progress(of clients: [ClientID: Int64]) async throws -> [ClientID: ClientProgress]
}

/// As of a tick: the client's highest applied or refused changeset, and its refusals that it has not acknowledged.
public struct ClientProgress: Hashable, Sendable {
    public var last: Int64
    public var refusals: [RefusedWrite]

    public init(last: Int64, refusals: [RefusedWrite]) {
        self.last = last
        self.refusals = refusals
    }
}

/// The answer to opening a client.
public struct ClientOpening: Hashable, Sendable {
    /// The highest changeset number that was applied or refused, committed but perhaps not yet in a tick.
    public var last: Int64
    public var serverTime: Stamp
    /// Another user owns this client id, or the server knows less of it than it acknowledged: it must reset.
    public var mustReset: String?

    public init(last: Int64, serverTime: Stamp, mustReset: String? = nil) {
        self.last = last
        self.serverTime = serverTime
        self.mustReset = mustReset
    }
}

/// One changeset on its way in.
public struct Upload: Sendable {
    public let client: ClientID
    public let changeset: Changeset
    /// Of the client's user, as the caller knows them.
    public private(set) var rights: UploadRights
    /// What the user's rights are by now, as a transaction sees it; nil if they're the same. A store may ask when something
    /// is refused, and decide anew: see ``permitting(also:)``.
    public let renewed: (@Sendable (any UploadDatabase) async throws -> UploadRights?)?
    /// The IP address that it came from, for those who look into who changed what; nil if that's unknown.
    public let address: String?

    public var permit: @Sendable (WriteRequest) -> WriteDenial? { rights.permit }
    public var denial: @Sendable (WriteRequest.Operation, Int) -> WriteDenial? { rights.denial }
    public var sees: @Sendable (_ classIndex: Int, Row) -> Bool { rights.sees }

    public init(
        client: ClientID, changeset: Changeset, rights: UploadRights,
        renewed: (@Sendable (any UploadDatabase) async throws -> UploadRights?)? = nil, address: String? = nil
    ) {
        self.client = client
        self.changeset = changeset
        self.rights = rights
        self.renewed = renewed
        self.address = address
    }

    public init(
        client: ClientID, changeset: Changeset, permit: @escaping @Sendable (WriteRequest) -> WriteDenial?,
        denial: @escaping @Sendable (WriteRequest.Operation, Int) -> WriteDenial? = { _, _ in nil },
        sees: @escaping @Sendable (_ classIndex: Int, Row) -> Bool = { _, _ in true }
    ) {
        self.init(
            client: client, changeset: changeset, rights: UploadRights(permit: permit, denial: denial, sees: sees))
    }

    /// The same upload of a user who has other rights besides. That gives nobody more than two uploads would: one of what
    /// was permitted before, and one of the rest.
    public func permitting(also others: UploadRights) -> Upload {
        var result = self
        result.rights = rights.joined(with: others)
        return result
    }
}

public enum UploadResult: Hashable, Sendable {
    /// Committed: what of it was permitted and possible. `lost` counts field writes that a concurrent edit beat;
    /// `refusals` tell what was left out, which may be everything.
    case applied(lost: Int, refusals: [Refusal] = [])
    /// Applied before.
    case duplicate
    /// The number skips some: the client's queue is not the server's, and it must reset.
    case gap(expected: Int64)
    /// Applied or refused before with another content: a copied file.
    case conflict
    /// The base tick is unknown, below the retention floor, or too many changes ago for the store to look through: the client
    /// must take a new position first. One that it takes now is new enough, whatever happened before.
    case unknownBase
}
