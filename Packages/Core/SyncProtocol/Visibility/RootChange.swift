public import TomboloChangesets
public import TomboloModel

/// What happened to one object, its lists included, between two ticks. Rows are as of those ticks; a row in the trash
/// counts as absent.
public struct RootChange: Hashable, Sendable {
    public let reference: ObjectReference
    public let old: Row?
    public let new: Row?
    /// Columns that differ between `old` and `new`.
    public let changedColumns: [Int]
    /// All elements of the object's lists at the newer tick, by element class; sent when the object moves in.
    public let elements: [Int: [Row]]
    /// Elements that were added or changed, by element class: their whole rows.
    public let changedElements: [Int: [Row]]
    /// Keys of elements that went, by element class.
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
    public let from: Int64
    public let to: Int64
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
