internal import Synchronization

/// A model class with its schema and the location of every property in its instances. Built once per class.
package final class ObjectClass: Sendable {
    package let type: ObjectBase.Type
    package let schema: ClassSchema
    /// The properties in declaration order, superclasses first.
    package let properties: [ObjectProperty]
    /// The locations of ``properties`` in an instance.
    package let places: [PropertyPlace]
    /// The model classes that links, lists and embedded objects lead to.
    package let targets: [ObjectBase.Type]
    /// For each column, the position of its property. A column inside an embedded object has the position of the
    /// property with that object.
    package let propertyOfColumn: [Int]
    /// For each list, the position of its property.
    package let propertyOfList: [Int]
    /// Whether instances have no stored properties other than those declared with `@Persisted`.
    package let isPlain: Bool
    private let positions: [String: Int]

    package func property(named name: String) -> ObjectProperty? { positions[name].map { properties[$0] } }
    package func position(ofProperty name: String) -> Int? { positions[name] }

    /// The layout of a class, from a cache that all threads share.
    package static func of(_ type: ObjectBase.Type) -> ObjectClass { of(type, inside: []) }

    /// - Parameter outer: the classes that embed this one, to detect a class that embeds itself.
    static func of(_ type: ObjectBase.Type, inside outer: [ObjectBase.Type]) -> ObjectClass {
        let id = ObjectIdentifier(type)
        if let known = cache.withLock({ $0[id] }) { return known }
        var builder = ObjectClassBuilder(type, inside: outer)
        let built = builder.build()
        cache.withLock { $0[id] = built }
        return built
    }

    private static let cache = Mutex<[ObjectIdentifier: ObjectClass]>([:])

    init(
        type: ObjectBase.Type, schema: ClassSchema, properties: [ObjectProperty], targets: [ObjectBase.Type],
        propertyOfColumn: [Int], propertyOfList: [Int], isPlain: Bool
    ) {
        self.isPlain = isPlain
        self.type = type
        self.schema = schema
        self.properties = properties
        places = properties.map(\.place)
        self.targets = targets
        self.propertyOfColumn = propertyOfColumn
        self.propertyOfList = propertyOfList
        positions = Dictionary(
            properties.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    }
}
