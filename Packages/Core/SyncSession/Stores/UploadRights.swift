public import TomboloChangesets
public import TomboloModel

/// The database as seen by the transaction that applies an upload. Each store has its own type for it.
public protocol UploadDatabase: Sendable {}

/// What a client's user may do, as far as uploads need to know.
public struct UploadRights: Sendable {
    /// Why a write isn't permitted, or nil if it is.
    public let permit: @Sendable (WriteRequest) -> WriteDenial?
    /// Why an operation isn't permitted for any object of the class at a position, or nil if it's permitted for some.
    /// Asked before rows are locked.
    public let denial: @Sendable (WriteRequest.Operation, Int) -> WriteDenial?
    /// Whether the user may read an object, given its class and row. For an element class, the row is that of the
    /// object that owns the list, and the question is whether the user may read its elements. Objects that the user
    /// can't read are treated as missing.
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

    /// The rights of a user who has both these rights and the others. If neither permits something, the reason comes
    /// from the others.
    func joined(with others: UploadRights) -> UploadRights {
        UploadRights(
            permit: { permit($0) == nil ? nil : others.permit($0) },
            denial: { denial($0, $1) == nil ? nil : others.denial($0, $1) },
            sees: { sees($0, $1) || others.sees($0, $1) })
    }
}
