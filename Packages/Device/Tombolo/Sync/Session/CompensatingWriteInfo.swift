internal import TomboloChangesets
public import TomboloModel
internal import TomboloSyncProtocol

/// A write transaction of this device that the server refused and undid.
public struct CompensatingWriteInfo: Hashable, Sendable {
    /// The number of the write transaction among the file's synced ones.
    public let number: Int64
    /// Why it was refused: a sentence for the app's developer.
    public let reason: String
    /// The class of the object concerned, or nil if the refusal isn't about one object.
    public let objectType: String?
    /// The primary key of the object concerned, or nil like ``objectType``.
    public let primaryKey: Value?

    init(_ changeset: RefusedChangeset) {
        number = changeset.number
        reason = changeset.refusal.message
        objectType = changeset.refusal.className
        primaryKey = changeset.refusal.key
    }
}
