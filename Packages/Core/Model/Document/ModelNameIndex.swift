/// Classes of a document, or properties of a class, by the names that they have and had.
struct ModelNameIndex {
    private var places: [String: Int] = [:]

    init(_ classes: [ModelClass]) { self.init(classes.map { ($0.name, $0.previousNames) }) }
    init(_ properties: [ModelProperty]) { self.init(properties.map { ($0.name, $0.previousNames) }) }

    /// A name that one has now isn't looked for among those that others had.
    private init(_ names: [(name: String, previous: [String])]) {
        for (place, item) in names.enumerated() {
            for name in item.previous { places[name] = place }
        }
        for (place, item) in names.enumerated() { places[item.name] = place }
    }

    /// Where the class is that another document has, under any of its names; nil if it isn't there.
    func place(of item: ModelClass) -> Int? { place(item.name, item.previousNames) }

    /// The same for a property.
    func place(of property: ModelProperty) -> Int? { place(property.name, property.previousNames) }

    private func place(_ name: String, _ previous: [String]) -> Int? {
        places[name] ?? previous.lazy.compactMap { places[$0] }.first
    }
}
