/// Which list an element class serves.
public struct ElementOwner: Hashable, Sendable {
    /// The name of the class that has the list, at the root.
    public let className: String
    /// The name of the list property; with the names of the lists and embedded objects on the way: `items.parts`.
    public let property: String
    /// The element class whose elements have the list, for a list inside the embedded objects of another one.
    public let parent: String?
    public let element: ListProperty.Element

    public init(className: String, property: String, parent: String? = nil, element: ListProperty.Element) {
        self.className = className
        self.property = property
        self.parent = parent
        self.element = element
    }
}

/// The columns that every element class begins with, in this order. In those of embedded objects their names begin
/// with an underscore, for the embedded class's own properties follow.
public enum ElementColumn {
    /// ObjectId, made on the device: the element's identity, which merging works on.
    public static let id = 0
    /// The primary key of the root object that has the list.
    public static let owner = 1
    /// Position among the owner's elements: text, by bytes; equal ranks are ordered by id.
    public static let rank = 2
    /// The primary key of the object in a list of links; the value in a list of scalars; the first property of an
    /// embedded object.
    public static let content = 3
    /// ``content`` of a list of links.
    public static let target = 3
}

extension ClassSchema {
    /// The position of the column that links to the parent element, the last one: for a list inside the embedded
    /// objects of another list.
    public var parentColumn: Int? { owner?.parent == nil ? nil : columns.count - 1 }

    /// The element class of a list.
    /// - Parameter paths: the name of the list with those on the way to it, then the ones that it had before.
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
