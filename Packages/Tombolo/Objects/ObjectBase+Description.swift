public import TomboloModel

extension ObjectBase: CustomStringConvertible {
    /// The class and its properties, a line for each; linked objects down to a depth of 2, long lists cut.
    public var description: String { text(depth: 0) }

    /// How far links are followed, as in Realm.
    private static var maximumDepth: Int { 2 }
    /// The most elements of a list that are shown, and bytes of data.
    private static var maximumCount: Int { 20 }

    private func text(depth: Int) -> String {
        if isInvalidated { return "[invalid object]" }
        guard depth <= Self.maximumDepth else { return "<Maximum depth exceeded>" }
        let indent = String(repeating: "\t", count: depth + 1)
        let lines = ObjectClass.of(type(of: self)).properties.compactMap { property -> String? in
            if case .linkingObjects = property.slot { return nil }
            return "\(indent)\(property.name) = \(Self.text(dynamicValue(property), depth: depth + 1));\n"
        }
        return "\(className) {\n\(lines.joined())\(String(repeating: "\t", count: depth))}"
    }

    private static func text(_ held: any Persistable, depth: Int) -> String {
        if let list = held as? any AnyList {
            let shown = list.elements.prefix(maximumCount).map { "[\(text($0, depth: depth + 1))]" }
            let rest = list.elements.count - shown.count
            return "(\(shown.joined(separator: ", "))\(rest > 0 ? ", … and \(rest) more" : ""))"
        }
        return text(held._tomboloStored, depth: depth)
    }

    private static func text(_ stored: Stored, depth: Int) -> String {
        switch stored {
        case .object(let object): object.text(depth: depth)
        case .value(.string(let text)): text
        case .value(let value): value.description
        }
    }
}
