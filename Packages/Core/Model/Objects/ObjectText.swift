/// Describes objects and collections as Realm does.
package enum ObjectText {
    /// The depth to which links are followed.
    private static let maximumDepth = 2
    /// The maximum number of elements shown for a collection.
    private static let maximumCount = 100

    static func text(of object: ObjectBase, depth: Int) -> String {
        if object.accessor?.isValid == false { return "[invalid object]" }
        guard depth <= maximumDepth else { return "<Maximum depth exceeded>" }
        let lines = ObjectClass.of(type(of: object)).properties.compactMap { property -> String? in
            if property.isComputed { return nil }
            return "\t\(property.name) = \(indented(text(object.held(property), depth: depth + 1)));\n"
        }
        return "\(object.className) {\n\(lines.joined())}"
    }

    /// - Parameter kind: the collection's type, such as `List<Dog>`.
    package static func text(_ kind: String, _ elements: some Sequence<Stored>, count: Int, depth: Int) -> String {
        if count == 0 { return "\(kind) ()" }
        var lines = elements.prefix(maximumCount).enumerated().map { position, element in
            "\t[\(position)] \(indented(text(element, depth: depth)))"
        }
        if count > maximumCount { lines.append("\t... \(count - maximumCount) more") }
        return "\(kind) (\n\(lines.joined(separator: ",\n"))\n)"
    }

    private static func indented(_ text: String) -> String { text.replacing("\n", with: "\n\t") }

    private static func text(_ held: any Persistable, depth: Int) -> String {
        guard let list = held as? any AnyList else {
            if let number = held._namedValue as? Float { return "\(number)" }
            return text(held._tomboloStored, depth: depth)
        }
        let elements = list.storedElements
        return text("List<\(list.elementType)>", elements, count: elements.count, depth: depth)
    }

    private static func text(_ stored: Stored, depth: Int) -> String {
        switch stored {
        case .object(let object): text(of: object, depth: depth)
        case .value(.string(let text)): text
        case .value(let value): value.description
        }
    }
}
