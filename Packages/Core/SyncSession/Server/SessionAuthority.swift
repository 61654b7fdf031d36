public import TomboloChangesets
public import TomboloModel

/// What the rules grant a session's user. Determined once at login, and replaced when roles change.
public struct SessionAuthority: Sendable {
    /// The user's id, as a client's progress row stores it.
    public let user: String
    /// A hash of the rules and the user's roles. A device whose hash differs gets its content anew.
    public let rulesFingerprint: UInt64
    /// What the user may read of a class, by position; `constant(false)` if nothing. For an element class: the objects
    /// that own the list, or `constant(false)` if the list must be empty on the device.
    public let readable: @Sendable (Int) -> Predicate
    /// By class position: columns that the user can't read although they can read the object.
    public let hidden: [Int: Set<Int>]
    /// Why a write isn't permitted, or nil if it is.
    public let permit: @Sendable (WriteRequest) -> WriteDenial?
    /// Why an operation isn't permitted for any object of the class at a position, or nil if it's permitted for some.
    public let denial: @Sendable (WriteRequest.Operation, Int) -> WriteDenial?

    /// The session's partition, or nil if the session uses subscriptions. ``readable`` and ``permit`` cover only its objects.
    public let partition: SessionPartition?
    /// What the same user may do in a given partition; nil if there are no partitions.
    public let inPartition: (@Sendable (Value) -> SessionAuthority)?
    /// The same user's current authority, as seen by an upload's transaction; nil if the account no longer exists.
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

    /// The rights that uploads need.
    public func uploadRights(in schema: Schema) -> UploadRights {
        UploadRights(permit: permit, denial: denial, sees: sees(in: schema))
    }

    /// Returns a function that says whether the user may read an object, given its class's position and its row. For an
    /// element class, the row is that of the object that owns the list.
    public func sees(in schema: Schema) -> @Sendable (_ classIndex: Int, Row) -> Bool {
        { [readable] classIndex, row in
            readable(classIndex).matches(row, of: schema[schema.rootClassIndex(of: classIndex)])
        }
    }
}
