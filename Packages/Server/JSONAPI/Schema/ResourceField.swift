package import TomboloModel

/// A property of a class as the API shows it: an attribute, or a relationship.
package struct ResourceField: Sendable {
    package indirect enum Content: Sendable {
        case value(column: Int, type: PropertyType)
        /// Several values in one column, encoded with `ArrayCoding`.
        case array(column: Int, types: [PropertyType])
        /// An embedded object: the column that says whether it exists, and its properties.
        case embedded(column: Int, fields: [ResourceField])
        /// A list of scalars, with the position of its element class.
        case values(elements: Int, type: PropertyType)
        /// A list of embedded objects: the position of the element class, and the properties of an element, whose
        /// columns are those of the element class.
        case objects(elements: Int, fields: [ResourceField])
        /// A link to an object of a class, given by its position.
        case toOne(column: Int, target: Int)
        /// A list of links, with the position of its element class.
        case toMany(elements: Int, target: Int)
    }

    /// The name of its member in `attributes` or `relationships`.
    package let name: String
    /// The property's name in the model, after those of the embedded objects that contain it.
    package let property: String
    package let content: Content
    package let isOptional: Bool
    /// The values that it, or an element of it, can have; nil for all of its type.
    package let allowedValues: AllowedValues?
    /// What people should know before they enter a value; nil for nothing.
    package let hint: String?
    /// Whether the text is Markdown.
    package let isMarkdown: Bool
    /// Whether it is the latitude or the longitude of its object's place; nil for neither.
    package let coordinate: Column.Coordinate?

    /// The column that holds it, or nil for a list.
    package var column: Int? {
        switch content {
        case .value(let column, _), .array(let column, _), .embedded(let column, _), .toOne(let column, _): column
        case .values, .objects, .toMany: nil
        }
    }

    /// The position of a list's element class.
    package var elements: Int? {
        switch content {
        case .values(let elements, _), .objects(let elements, _), .toMany(let elements, _): elements
        case .value, .array, .embedded, .toOne: nil
        }
    }

    /// The position of a relationship's target class.
    package var target: Int? {
        switch content {
        case .toOne(_, let target), .toMany(_, let target): target
        case .value, .array, .embedded, .values, .objects: nil
        }
    }

    package var isRelationship: Bool { target != nil }

    package init(
        name: String, property: String, content: Content, isOptional: Bool, allowedValues: AllowedValues? = nil,
        hint: String? = nil, isMarkdown: Bool = false, coordinate: Column.Coordinate? = nil
    ) {
        self.name = name
        self.property = property
        self.content = content
        self.isOptional = isOptional
        self.allowedValues = allowedValues
        self.hint = hint
        self.isMarkdown = isMarkdown
        self.coordinate = coordinate
    }

    func named(_ name: String) -> ResourceField {
        ResourceField(
            name: name, property: property, content: content, isOptional: isOptional, allowedValues: allowedValues,
            hint: hint, isMarkdown: isMarkdown, coordinate: coordinate)
    }

    /// The name of the column with the target's title in an export. No member has this name, so imports ignore it.
    package var titleName: String { "\(name).title" }

    /// The member with an element's id in a list of embedded objects.
    package static let elementID = "id"
}
