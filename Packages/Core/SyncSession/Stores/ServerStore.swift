public import TomboloChangesets
public import TomboloModel
public import TomboloSyncProtocol

/// The server's rows with their history. Production uses PostgreSQL; the simulator has an in-memory store. One
/// conformance suite runs on every implementation.
public protocol ServerStore: Sendable {
    var schema: Schema { get }

    /// Makes a tick if the database has changed since the last one, commits it synchronously and returns it. Only the
    /// elected sequencer calls this.
    func makeTick() async throws -> Tick?

    /// The newest tick, or ``Tick/origin`` if the database has none.
    func latestTick() async throws -> Tick

    /// The tick with this number, or nil if it doesn't exist or its changes were dropped from the changelog.
    func tick(_ number: Int64) async throws -> Tick?

    /// Runs `body` with the database as of a tick that is the newest or nearly so.
    func withReader<Result: Sendable>(
        _ body: @Sendable (any TickReader) async throws -> Result
    ) async throws -> Result

    /// Like ``withReader(_:)``, but may read from a replica that has the tick that was newest at the time of the call.
    /// Unlike ``withReader(_:)``, it may fail midway for reasons that another attempt doesn't meet.
    func withBootstrapReader<Result: Sendable>(
        _ body: @escaping @Sendable (any TickReader) async throws -> Result
    ) async throws -> Result

    /// Opens a client's session and creates its progress row if there is none. Refusals up to `acknowledged` are no
    /// longer sent. Receipts may be deleted together with the changelog of their time, but not earlier, because a copy
    /// of the device's file may upload its changesets again.
    func openClient(_ client: ClientID, user: String, acknowledged: Int64) async throws -> ClientOpening

    /// Stores what a user may read under a rules fingerprint, by class position, for devices that return with this
    /// fingerprint after the rules have changed. It may be forgotten after the changelog's retention time.
    func keepReadable(_ readable: [Int: Predicate], under rulesFingerprint: UInt64) async throws

    /// What was stored under a rules fingerprint, by class position. Nil if nothing was, or if it no longer fits the
    /// schema. A class without an entry couldn't be read.
    func readable(under rulesFingerprint: UInt64) async throws -> [Int: Predicate]?

    /// Applies changesets in the given order, each effectively once, and returns one result for each.
    ///
    /// If a changeset's number skips some, its result is ``UploadResult/gap``. If its number was applied or refused before,
    /// whatever its base, the result is ``UploadResult/duplicate`` if ``Changeset/fingerprint(in:)`` equals the one in its
    /// receipt, and ``UploadResult/conflict`` otherwise, even if the receipt has been forgotten. After ``UploadResult/gap``,
    /// ``UploadResult/conflict`` or ``UploadResult/unknownBase``, no later changeset of that client is applied. One call
    /// therefore never mixes two sessions of one client, which can exist if its file was copied.
    ///
    /// Whether the changelog reaches back to a base is decided after reading the changelog, in the same transaction,
    /// because retention may drop parts of it in between. A base that is too old affects only its own client; the rest
    /// of the call is applied.
    /// - Throws: if an outcome is unknown. The caller may send the same uploads again. ``UnfinishedUploads`` has the
    ///   outcomes of the clients that weren't affected. After any other error, no outcome is known.
    func upload(_ uploads: [Upload]) async throws -> [UploadResult]
}

extension ServerStore {
    public func withBootstrapReader<Result: Sendable>(
        _ body: @escaping @Sendable (any TickReader) async throws -> Result
    ) async throws -> Result {
        try await withReader(body)
    }
}

/// The database as of one tick. All reads through one reader are consistent with each other.
public protocol TickReader: Sendable {
    var tick: Tick { get }

    /// What happened since an earlier tick. ``Tick/origin`` isn't allowed; bootstrap instead.
    func difference(from: Tick) async throws -> TickDifference

    /// Reads the rows of a class that satisfy the predicate and aren't in the trash, in blocks.
    /// - Parameter columns: column positions, the primary key first.
    func rows(
        classIndex: Int, matching: Predicate, columns: [Int], _ body: (RowBlock) async throws -> Void
    ) async throws

    /// Reads the list elements of one element class, for all owners that satisfy the predicate (on the class that owns
    /// the list), in blocks.
    func elements(
        classIndex: Int, ofOwnersMatching: Predicate, columns: [Int], _ body: (RowBlock) async throws -> Void
    ) async throws

    /// The number of objects that satisfy the predicate, excluding the trash. Used for progress.
    func count(classIndex: Int, matching: Predicate) async throws -> Int

    /// What the database had applied and refused of a client's changesets as of the tick.
    func progress(of client: ClientID) async throws -> ClientProgress

    /// The progress of several clients, with only the refusals from the given number on. ``TickDifference/clients`` has the
    /// numbers at which new ones begin. A client may have thousands of older refusals, which its session already knows.
    func progress(of clients: [ClientID: Int64]) async throws -> [ClientID: ClientProgress]
}

/// A client's progress as of a tick: its highest applied or refused changeset, and the refusals that it hasn't
/// acknowledged.
public struct ClientProgress: Hashable, Sendable {
    public var last: Int64
    public var refusals: [RefusedWrite]

    public init(last: Int64, refusals: [RefusedWrite]) {
        self.last = last
        self.refusals = refusals
    }
}

/// The result of opening a client.
public struct ClientOpening: Hashable, Sendable {
    /// The highest changeset number that was applied or refused. It's committed, but perhaps not yet in a tick.
    public var last: Int64
    public var serverTime: Stamp
    /// Why the client must reset, or nil. Either another user owns this client id, or the server knows less of it than
    /// it acknowledged.
    public var mustReset: String?

    public init(last: Int64, serverTime: Stamp, mustReset: String? = nil) {
        self.last = last
        self.serverTime = serverTime
        self.mustReset = mustReset
    }
}

/// One changeset to be applied.
public struct Upload: Sendable {
    public let client: ClientID
    public let changeset: Changeset
    /// The rights of the client's user, as far as the caller knows them.
    public private(set) var rights: UploadRights
    /// Returns the user's current rights as a transaction sees them, or nil if they haven't changed. When something is
    /// refused, a store may ask for them and decide again: see ``permitting(also:)``.
    public let renewed: (@Sendable (any UploadDatabase) async throws -> UploadRights?)?
    /// The IP address that the changeset came from, for people who investigate changes; nil if it's unknown.
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

    /// The same upload with additional rights. This allows no more than two separate uploads would: one with what the
    /// old rights permit, and one with the rest.
    public func permitting(also others: UploadRights) -> Upload {
        var result = self
        result.rights = rights.joined(with: others)
        return result
    }
}

public enum UploadResult: Hashable, Sendable {
    /// Committed, except for the parts that weren't permitted or possible. `lost` counts field writes that a concurrent
    /// edit beat. `refusals` says what was left out, which may be everything.
    case applied(lost: Int, refusals: [Refusal] = [])
    /// Applied before.
    case duplicate
    /// The number skips some. The client's queue isn't the one that the server knows, so the client must reset.
    case gap(expected: Int64)
    /// The number was applied or refused before with different content. The file was copied.
    case conflict
    /// The base tick is unknown, below the retention floor, or too many changes ago for the store to search. The client
    /// must get a new position first. Any position that it gets now is recent enough.
    case unknownBase
}
