package import TomboloModel

extension PropertyType {
    /// The type with this ``name``, or nil if this version of Tombolo doesn't know it.
    package init?(name: String) {
        if let scalar = Self.scalars.first(where: { $0.name == name }) {
            self = scalar
            return
        }
        guard name.hasSuffix(">"), let open = name.firstIndex(of: "<") else { return nil }
        let argument = String(name[name.index(after: open)...].dropLast())
        switch name[..<open] {
        case "link": self = .link(to: argument)
        case "embedded": self = .embedded(argument)
        case "array":
            let types = argument.split(separator: ",").map { PropertyType(name: String($0)) }
            guard types.allSatisfy({ $0 != nil }) else { return nil }
            self = .array(types.compactMap(\.self))
        default: return nil
        }
    }

    private static let scalars: [PropertyType] = [
        .bool, .int(bits: 64), .int(bits: 8), .int(bits: 16), .int(bits: 32), .float, .double, .decimal128, .string,
        .data, .date, .objectId, .uuid,
    ]

    /// The class of a link or embedded object.
    var className: String? {
        switch self {
        case .link(let name), .embedded(let name): name
        default: nil
        }
    }

    /// Whether stored values of this type are also valid for the other type. This applies to integers of different
    /// widths.
    func isStored(as other: PropertyType) -> Bool {
        if case .int = self, case .int = other { return true }
        return self == other
    }
}
