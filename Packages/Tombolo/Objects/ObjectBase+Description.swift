public import TomboloModel

extension ObjectBase: CustomStringConvertible {
    /// The class and its properties, a line for each; linked objects down to a depth of 2, long lists cut.
    public var description: String { ObjectText.text(of: self, depth: 0) }
}

extension RealmCollection {
    /// The elements, a line for each; objects as they describe themselves, long collections cut.
    public var description: String {
        let kind = "\(type(of: self))"
        return ObjectText.text(kind, lazy.map(\._tomboloStored), count: count, depth: 0)
    }
}

/// Objects and collections as text, in Realm's form.
private enum ObjectText {
    /// How far links are followed.
    private static let maximumDepth = 2
    /// The most elements of a collection that are shown.
    private static let maximumCount = 100

    static func text(of object: ObjectBase, depth: Int) -> String {
        if object.isInvalidated { return "[invalid object]" }
        guard depth <= maximumDepth else { return "<Maximum depth exceeded>" }
        let lines = ObjectClass.of(type(of: object)).properties.compactMap { property -> String? in
            if case .linkingObjects = property.slot { return nil }
            return "\t\(property.name) = \(indented(text(object.dynamicValue(property), depth: depth + 1)));\n"
        }
        return "\(object.className) {\n\(lines.joined())}"
    }

    static func text(_ kind: String, _ elements: some Sequence<Stored>, count: Int, depth: Int) -> String {
        if count == 0 { return "\(kind) ()" }
        var lines = elements.prefix(maximumCount).enumerated().map { position, element in
            "\t[\(position)] \(indented(text(element, depth: depth)))"
        }
        if count > maximumCount { lines.append("\t... \(count - maximumCount) more") }
        return "\(kind) (\n\(lines.joined(separator: ",\n"))\n)"
    }

    private static func indented(_ text: String) -> String { text.replacing("\n", with: "\n\t") }

    private static func text(_ held: any Persistable, depth: Int) -> String {
        guard let list = held as? any AnyList else { return text(held._tomboloStored, depth: depth) }
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
