public import TomboloChangesets
public import TomboloModel

/// What happened to one object and its lists between two ticks. Rows are as of those ticks; a row in the trash counts
/// as absent.
public struct RootChange: Hashable, Sendable {
    /// The object.
    public let reference: ObjectReference
    /// Its row at the older tick, or nil if it didn't exist.
    public let old: Row?
    /// Its row at the newer tick, or nil if it doesn't exist.
    public let new: Row?
    /// Columns that differ between `old` and `new`.
    public let changedColumns: [Int]
    /// All elements of the object's lists at the newer tick, by element class. Sent when the object becomes visible.
    public let elements: [Int: [Row]]
    /// The whole rows of elements that were added or changed, by element class.
    public let changedElements: [Int: [Row]]
    /// The keys of elements that were removed, by element class.
    public let removedElements: [Int: [Value]]

    public init(
        reference: ObjectReference, old: Row?, new: Row?, elements: [Int: [Row]] = [:],
        changedElements: [Int: [Row]] = [:], removedElements: [Int: [Value]] = [:]
    ) {
        self.reference = reference
        self.old = old
        self.new = new
        if let old, let new {
            changedColumns = new.values.indices.filter { old[$0] != new[$0] }
        } else {
            changedColumns = []
        }
        self.elements = elements
        self.changedElements = changedElements
        self.removedElements = removedElements
    }
}

/// Everything that happened between two ticks, each object once.
public struct TickDifference: Sendable {
    /// The number of the older tick.
    public let from: Int64
    /// The number of the newer tick.
    public let to: Int64
    /// The changed objects.
    public let changes: [RootChange]
    /// Clients whose changesets were applied or refused in between, each with the number of the first such changeset.
    public let clients: [ClientID: Int64]
    /// Users whose account changed, as sessions name their users: custom data, password, revocation.
    public let accounts: Set<String>
    /// Whether a model or rule document was added.
    public let hasNewDocuments: Bool

    public init(
        from: Int64, to: Int64, changes: [RootChange], clients: [ClientID: Int64], accounts: Set<String> = [],
        hasNewDocuments: Bool = false
    ) {
        self.from = from
        self.to = to
        self.changes = changes
        self.clients = clients
        self.accounts = accounts
        self.hasNewDocuments = hasNewDocuments
    }
}
