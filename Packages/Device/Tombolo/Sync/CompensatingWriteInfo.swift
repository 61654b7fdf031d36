internal import TomboloChangesets
public import TomboloModel
internal import TomboloSyncProtocol

/// A write transaction of this device that the server did not accept and took back.
public struct CompensatingWriteInfo: Hashable, Sendable {
    /// Counts the synced write transactions of the file.
    public let number: Int64
    /// Why: a sentence for the app's developer.
    public let reason: String
    /// The class and primary key of the object concerned, where one object is.
    public let objectType: String?
    public let primaryKey: Value?

    init(_ changeset: RefusedChangeset) {
        number = changeset.number
        reason = changeset.refusal.message
        objectType = changeset.refusal.className
        primaryKey = changeset.refusal.key
    }
}
