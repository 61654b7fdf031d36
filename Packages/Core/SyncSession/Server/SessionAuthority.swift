public import TomboloChangesets
public import TomboloModel

/// What the rules say of a session's user: decided once at login, replaced when roles change.
public struct SessionAuthority: Sendable {
    /// The user's id, as a client's progress row stores it.
    public let user: String
    /// Hash of the rules and of the user's roles; a device with another one gets its content anew.
    public let rulesFingerprint: UInt64
    /// What the user may read of a class, by position; `constant(false)` where nothing permits it. For an element class:
    /// the objects that have the list, or `constant(false)` for a list that is to be empty on the device.
    public let readable: @Sendable (Int) -> Predicate
    /// By class position: the columns that the user may not read although they may read the object.
    public let hidden: [Int: Set<Int>]
    /// Why a write is not permitted; nil where it is.
    public let permit: @Sendable (WriteRequest) -> WriteDenial?
    /// Why the user may not do something to any object of a class, by position; nil where it is permitted for some.
    public let denial: @Sendable (WriteRequest.Operation, Int) -> WriteDenial?

    /// The partition that the session is in; nil for a session by subscriptions. ``readable`` and ``permit`` are about
    /// its objects only.
    public let partition: SessionPartition?
    /// What the same user may do in a partition; nil where there are none.
    public let inPartition: (@Sendable (Value) -> SessionAuthority)?
    /// What the same user may do by now, as the transaction of an upload sees it; nil if they have no account any more.
    public let renewed: (@Sendable (any UploadDatabase) async throws -> SessionAuthority?)?

    public init(
        user: String, rulesFingerprint: UInt64, readable: @escaping @Sendable (Int) -> Predicate,
        hidden: [Int: Set<Int>] = [:],
        permit: @escaping @Sendable (WriteRequest) -> WriteDenial?,
        denial: @escaping @Sendable (WriteRequest.Operation, Int) -> WriteDenial? = { _, _ in nil },
        partition: SessionPartition? = nil,
        inPartition: (@Sendable (Value) -> SessionAuthority)? = nil,
        renewed: (@Sendable (any UploadDatabase) async throws -> SessionAuthority?)? = nil
    ) {
        self.user = user
        self.rulesFingerprint = rulesFingerprint
        self.readable = readable
        self.hidden = hidden
        self.permit = permit
        self.denial = denial
        self.partition = partition
        self.inPartition = inPartition
        self.renewed = renewed
    }

    /// What uploads ask.
    public func uploadRights(in schema: Schema) -> UploadRights {
        UploadRights(permit: permit, denial: denial, sees: sees(in: schema))
    }

    /// Whether the user may read an object, by its class's position and its row; for an element class, whether they may
    /// read the elements of the object that has the row.
    public func sees(in schema: Schema) -> @Sendable (_ classIndex: Int, Row) -> Bool {
        { [readable] classIndex, row in
            readable(classIndex).matches(row, of: schema[schema.rootClassIndex(of: classIndex)])
        }
    }
}
