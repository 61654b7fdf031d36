/// A column whose values are users: a row that has one says what that user may do.
public struct GrantColumn: Hashable, Sendable {
    public let classIndex: Int
    public let column: Int

    public init(classIndex: Int, column: Int) {
        self.classIndex = classIndex
        self.column = column
    }
}
