internal import TomboloModel

/// What arbitration needs of a class for every instruction. It's a reference type because copying a ``ClassSchema`` for
/// each instruction would cost more than the lookups themselves.
final class ArbitratedClass: Sendable {
    let item: ClassSchema
    let keyIndex: Int?
    /// Whether its objects are list elements.
    let isElement: Bool
    let isTrashable: Bool
    /// The position of the class that owns the list; for any other class, its own position.
    let rootIndex: Int
    /// A new object's row before any field is set.
    let blank: Row
    /// The columns that are links.
    let linkColumns: [Int]
    /// By column: the position of the class that a link targets.
    let linkTargets: [Int?]
    let isOptional: [Bool]

    init(_ item: ClassSchema, rootIndex: Int, in schema: Schema) {
        self.item = item
        self.rootIndex = rootIndex
        keyIndex = item.primaryKeyIndex
        isElement = item.owner != nil
        isTrashable = item.isTrashable
        blank = Row(item.columns.map { $0.isOptional ? .null : $0.type.zero })
        linkColumns = item.columns.indices.filter { item.columns[$0].linkTarget != nil }
        linkTargets = item.columns.map { column in column.linkTarget.flatMap { schema.index(of: $0) } }
        isOptional = item.columns.map(\.isOptional)
    }

    static func classes(of schema: Schema) -> [ArbitratedClass] {
        schema.classes.enumerated().map { index, item in
            ArbitratedClass(item, rootIndex: schema.rootClassIndex(of: index), in: schema)
        }
    }

    /// The object that a link targets; nil for null and for a column that isn't a link.
    func link(_ column: Int, _ key: Value) -> ObjectReference? {
        guard linkTargets.indices.contains(column), let target = linkTargets[column], !key.isNull else { return nil }
        return ObjectReference(classIndex: target, key: key)
    }
}
