/// What a document has and an older one lacks: classes, and properties of classes that both have.
public struct ModelAdditions: Hashable, Sendable {
    public fileprivate(set) var classes: Set<String> = []
    /// By class name.
    public fileprivate(set) var properties: [String: Set<String>] = [:]

    public static let empty = ModelAdditions()

    public var isEmpty: Bool { classes.isEmpty && properties.isEmpty }

    /// The names in alphabetical order: `Boat`, `Listing.notes`.
    public var names: [String] {
        (classes + properties.flatMap { item, names in names.map { "\(item).\($0)" } }).sorted()
    }
}

extension ModelDocument {
    /// What this document has and `older` lacks under any name. Retired classes and properties don't count.
    public func additions(since older: ModelDocument) -> ModelAdditions {
        let index = ModelNameIndex(older.classes)
        var result = ModelAdditions()
        for item in classes where !item.isRetired {
            guard let place = index.place(of: item) else {
                result.classes.insert(item.name)
                continue
            }
            let known = ModelNameIndex(older.classes[place].properties)
            let added = item.properties.filter { !$0.isRetired && known.place(of: $0) == nil }
            if !added.isEmpty { result.properties[item.name] = Set(added.map(\.name)) }
        }
        return result
    }
}
