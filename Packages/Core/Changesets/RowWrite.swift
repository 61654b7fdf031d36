public import TomboloModel

/// What the server writes for a changeset, after arbitration.
public enum RowWrite: Hashable, Sendable {
    /// A new row, whole; `defaults` are the columns whose value the app did not set.
    case insert(ObjectReference, Row, defaults: Set<Int>)
    /// Changed columns of a row that exists. `value` is final also for additions, whose amount is in the mark.
    case update(ObjectReference, [ColumnWrite])
    /// Deletes the row, or moves it into the trash where the class has one.
    case erase(ObjectReference)

    public var reference: ObjectReference {
        switch self {
        case .insert(let reference, _, _), .update(let reference, _), .erase(let reference): reference
        }
    }
}

/// One column of an update.
public struct ColumnWrite: Hashable, Sendable {
    public let column: Int
    public let value: Value
    public let mark: LogEntry.Mark

    public init(column: Int, value: Value, mark: LogEntry.Mark) {
        self.column = column
        self.value = value
        self.mark = mark
    }
}
