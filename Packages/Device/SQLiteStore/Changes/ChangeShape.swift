package import TomboloModel

/// The identities by which stored changes refer to classes. They let a reader with other classes, or other versions of
/// the same classes, neither confuse nor overlook any.
package struct ChangeShape: Sendable {
    /// Hashes of the name and the properties, by class position.
    let identities: [UInt64]
    private let classIndexes: [UInt64: Int]

    /// The low bits of an identity are a hash of the properties, the others of the name.
    static let propertyMask: UInt64 = 0xffff

    package init(_ schema: Schema) {
        identities = schema.classes.map { item in
            let properties = (item.columns.map(\.name) + item.lists.map(\.name)).joined(separator: "\n")
            return item.name.stableHash & ~Self.propertyMask | properties.stableHash & Self.propertyMask
        }
        classIndexes = Dictionary(
            identities.enumerated().map { ($1 & ~Self.propertyMask, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The class with this identity's name, or nil if the reader doesn't have it; and whether the class has the same
    /// properties.
    func classIndex(of identity: UInt64) -> (Int, hasSameProperties: Bool)? {
        guard let index = classIndexes[identity & ~Self.propertyMask] else { return nil }
        return (index, identities[index] == identity)
    }
}
