internal import TomboloChangesets
public import TomboloModel
internal import TomboloSyncProtocol

/// A write of this device that the server refused and undid. The rest of its transaction was kept.
public struct CompensatingWriteInfo: Hashable, Sendable {
    /// The number of the write's transaction among the file's synced transactions. Refused writes of one transaction
    /// have the same number.
    public let number: Int64
    /// Why it was refused: a sentence for the app's developer.
    public let reason: String
    /// The class of the object concerned. Nil if the refusal isn't about one object: the server refused the whole
    /// transaction, or more of its writes than can be listed.
    public let objectType: String?
    /// The primary key of the object concerned. Nil if ``objectType`` is.
    public let primaryKey: Value?
    /// The role that didn't permit the write, or nil if the write was refused for another reason.
    public let role: String?

    init(_ refused: RefusedWrite) {
        number = refused.number
        reason = refused.refusal.message
        objectType = refused.refusal.className
        primaryKey = refused.refusal.key
        role = refused.refusal.role
    }
}
