/// The list that an element class belongs to.
public struct ElementOwner: Hashable, Sendable {
    /// The name of the root class that has the list.
    public let className: String
    /// The name of the list property, including the names of the lists and embedded objects on the way to it:
    /// `items.parts`.
    public let property: String
    /// For a list inside another list's embedded objects: the element class whose elements have this list.
    public let parent: String?
    public let element: ListProperty.Element

    public init(className: String, property: String, parent: String? = nil, element: ListProperty.Element) {
        self.className = className
        self.property = property
        self.parent = parent
        self.element = element
    }
}

/// The columns that every element class begins with, in this order. For lists of embedded objects their names begin
/// with an underscore, because the embedded class's own properties follow.
public enum ElementColumn {
    /// An ObjectId made on the device. It identifies the element when edits are merged.
    public static let id = 0
    /// The primary key of the root object that has the list.
    public static let owner = 1
    /// The position among the owner's elements: a string compared by bytes. Equal ranks are ordered by id.
    public static let rank = 2
    /// In a list of links, the target's primary key; in a list of scalars, the value; in a list of embedded objects,
    /// the first property.
    public static let content = 3
    /// The ``content`` of a list of links.
    public static let target = 3
}

extension ClassSchema {
    /// For a list inside another list's embedded objects: the position of the column that links to the parent element,
    /// which is the last one.
    public var parentColumn: Int? { owner?.parent == nil ? nil : columns.count - 1 }

    /// The element class of a list.
    /// - Parameter paths: the list's name with the path to it, followed by its previous names.
    static func elements(
        of list: ListProperty, root: ClassSchema, paths: [String], parent: ClassSchema?
    ) -> ClassSchema {
        let path = paths[0]
        let isEmbedded = if case .embedded = list.element { true } else { false }
        let prefix = isEmbedded ? "_" : ""
        var columns = [
            Column(name: isEmbedded ? "_element" : "_id", type: .objectId, isPrimaryKey: true),
            Column(name: "\(prefix)owner", type: .link(to: root.name), isIndexed: true),
            Column(name: "\(prefix)rank", type: .string),
        ]
        var lists: [ListProperty] = []
        switch list.element {
        case .link(let target): columns.append(Column(name: "target", type: .link(to: target), isIndexed: true))
        case .scalar(let type, let isOptional):
            columns.append(
                Column(name: "value", type: type, isOptional: isOptional, allowedValues: list.allowedValues))
        case .embedded(let schema):
            columns += schema.columns
            lists = schema.lists
        }
        if let parent {
            columns.append(Column(name: "\(prefix)parent", type: .link(to: parent.name), isIndexed: true))
        }
        return ClassSchema(
            name: "\(root.name).\(path)",
            table: "\((parent ?? root).table)_\(list.sqlName)", columns: columns, lists: lists,
            owner: ElementOwner(className: root.name, property: path, parent: parent?.name, element: list.element),
            previousNames: Array(
                ([root.name] + root.previousNames).flatMap { name in paths.map { "\(name).\($0)" } }.dropFirst()),
            isRetired: list.isRetired || (parent ?? root).isRetired)
    }
}
