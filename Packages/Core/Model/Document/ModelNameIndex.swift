/// Finds a document's classes, or a class's properties, by current and previous names.
struct ModelNameIndex {
    private var places: [String: Int] = [:]

    init(_ classes: [ModelClass]) { self.init(classes.map { ($0.name, $0.previousNames) }) }
    init(_ properties: [ModelProperty]) { self.init(properties.map { ($0.name, $0.previousNames) }) }

    /// A current name takes precedence over the previous names of others.
    private init(_ names: [(name: String, previous: [String])]) {
        for (place, item) in names.enumerated() {
            for name in item.previous { places[name] = place }
        }
        for (place, item) in names.enumerated() { places[item.name] = place }
    }

    /// The position of a class from another document, found under any of its names; nil if it isn't here.
    func place(of item: ModelClass) -> Int? { place(item.name, item.previousNames) }

    /// The position of a property from another class, found under any of its names; nil if it isn't here.
    func place(of property: ModelProperty) -> Int? { place(property.name, property.previousNames) }

    private func place(_ name: String, _ previous: [String]) -> Int? {
        places[name] ?? previous.lazy.compactMap { places[$0] }.first
    }
}
