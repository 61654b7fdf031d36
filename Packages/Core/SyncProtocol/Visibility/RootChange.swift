public import TomboloChangesets
public import TomboloModel

/// The changes to one object and its lists between two ticks. Rows are as of these ticks; a row in the trash counts as
/// absent.
public struct RootChange: Hashable, Sendable {
    /// The object.
    public let reference: ObjectReference
    /// Its row at the older tick, or nil if it didn't exist.
    public let old: Row?
    /// Its row at the newer tick, or nil if it doesn't exist.
    public let new: Row?
    /// The columns whose values differ between `old` and `new`.
    public let changedColumns: [Int]
    /// All elements of the object's lists at the newer tick, by element class. They're sent when the object becomes visible.
    public let elements: [Int: [Row]]
    /// The whole rows of added or changed elements, by element class.
    public let changedElements: [Int: [Row]]
    /// The keys of removed elements, by element class.
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

/// All changes between two ticks, with each object once.
public struct TickDifference: Sendable {
    /// The number of the older tick.
    public let from: Int64
    /// The number of the newer tick.
    public let to: Int64
    /// The changed objects.
    public let changes: [RootChange]
    /// Clients whose changesets were applied or refused between the ticks, each with the number of the first such changeset.
    public let clients: [ClientID: Int64]
    /// Users whose account changed (custom data, password, revocation), by the user id that sessions have.
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
