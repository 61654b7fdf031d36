public import TomboloChangesets
public import TomboloModel

/// The database as the transaction sees it that applies an upload. What it is depends on the store.
public protocol UploadDatabase: Sendable {}

/// What the user of a client may do, as uploads ask.
public struct UploadRights: Sendable {
    /// Why a write is not permitted; nil where it is.
    public let permit: @Sendable (WriteRequest) -> WriteDenial?
    /// Why the user may not do something to any object of a class, by position; nil where it is permitted for some. Asked
    /// before rows are locked.
    public let denial: @Sendable (WriteRequest.Operation, Int) -> WriteDenial?
    /// Whether the user may read an object: of a class, with its row. For an element class, whether they may read the
    /// elements of the object that has the row. What they may not read is written as if it didn't exist.
    public let sees: @Sendable (_ classIndex: Int, Row) -> Bool

    public init(
        permit: @escaping @Sendable (WriteRequest) -> WriteDenial?,
        denial: @escaping @Sendable (WriteRequest.Operation, Int) -> WriteDenial? = { _, _ in nil },
        sees: @escaping @Sendable (_ classIndex: Int, Row) -> Bool = { _, _ in true }
    ) {
        self.permit = permit
        self.denial = denial
        self.sees = sees
    }

    /// The rights of somebody who has these and others. What neither permits is refused for the reason of the others.
    func joined(with others: UploadRights) -> UploadRights {
        UploadRights(
            permit: { permit($0) == nil ? nil : others.permit($0) },
            denial: { denial($0, $1) == nil ? nil : others.denial($0, $1) },
            sees: { sees($0, $1) || others.sees($0, $1) })
    }
}
