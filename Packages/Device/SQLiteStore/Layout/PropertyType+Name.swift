package import TomboloModel

extension PropertyType {
    /// The type whose ``name`` this is; nil for a name that this version of Tombolo does not know.
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

    /// The class of a link or of an embedded object.
    var className: String? {
        switch self {
        case .link(let name), .embedded(let name): name
        default: nil
        }
    }

    /// Whether what is stored for one type can be stored for the other as it is: integers of all widths.
    func isStored(as other: PropertyType) -> Bool {
        if case .int = self, case .int = other { return true }
        return self == other
    }
}
