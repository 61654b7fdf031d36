internal import TomboloChangesets
public import TomboloModel
internal import TomboloSyncProtocol

/// A write of this device that the server refused and undid. What else its transaction did was kept.
public struct CompensatingWriteInfo: Hashable, Sendable {
    /// The number of its write transaction among the file's synced ones. Several refused writes of one transaction have
    /// the same.
    public let number: Int64
    /// Why it was refused: a sentence for the app's developer.
    public let reason: String
    /// The class of the object concerned, or nil if the refusal isn't about one object: the whole transaction then was
    /// refused, or more of its writes than can be listed.
    public let objectType: String?
    /// The primary key of the object concerned, or nil like ``objectType``.
    public let primaryKey: Value?
    /// The role that didn't permit the write, or nil if something else was wrong with it.
    public let role: String?

    init(_ refused: RefusedWrite) {
        number = refused.number
        reason = refused.refusal.message
        objectType = refused.refusal.className
        primaryKey = refused.refusal.key
        role = refused.refusal.role
    }
}
