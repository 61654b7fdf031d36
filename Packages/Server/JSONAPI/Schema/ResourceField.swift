package import TomboloModel

/// A property of a class as the API shows it: an attribute, or a relationship.
package struct ResourceField: Sendable {
    package indirect enum Content: Sendable {
        case value(column: Int, type: PropertyType)
        /// Several values in one column, in the form of `ArrayCoding`.
        case array(column: Int, types: [PropertyType])
        /// An embedded object: the column that says whether it's there, and its properties.
        case embedded(column: Int, fields: [ResourceField])
        /// A list of scalars, with the position of its element class.
        case values(elements: Int, type: PropertyType)
        /// A link to an object of a class, by its position.
        case toOne(column: Int, target: Int)
        /// A list of links, with the position of its element class.
        case toMany(elements: Int, target: Int)
    }

    /// The name of its member in `attributes` or `relationships`.
    package let name: String
    /// The name of the property in the model, with those of the embedded objects that it's in.
    package let property: String
    package let content: Content
    package let isOptional: Bool

    /// The column that holds it, or nil for a list.
    package var column: Int? {
        switch content {
        case .value(let column, _), .array(let column, _), .embedded(let column, _), .toOne(let column, _): column
        case .values, .toMany: nil
        }
    }

    /// The position of the element class of a list.
    package var elements: Int? {
        switch content {
        case .values(let elements, _), .toMany(let elements, _): elements
        case .value, .array, .embedded, .toOne: nil
        }
    }

    /// The position of the class that a relationship leads to.
    package var target: Int? {
        switch content {
        case .toOne(_, let target), .toMany(_, let target): target
        case .value, .array, .embedded, .values: nil
        }
    }

    package var isRelationship: Bool { target != nil }
}
