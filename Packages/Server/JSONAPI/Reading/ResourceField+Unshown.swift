package import TomboloHTTP

extension ResourceField {
    /// The lists in a field that are too long for a resource to show. The values are their names, with those of the
    /// embedded objects that contain them, by the position of the element class.
    /// - Parameter json: what a resource shows of the field; nil for nothing.
    package func unshownLists(in json: JSON?) -> [Int: String] {
        switch (content, json) {
        case (.values(let elements, _), nil), (.objects(let elements, _), nil), (.toMany(let elements, _), nil):
            return [elements: name]
        case (.embedded(_, let inner), .object(let members)):
            return inner.reduce(into: [:]) { lists, part in
                for (elements, path) in part.unshownLists(in: members[part.name]) {
                    lists[elements] = "\(name).\(path)"
                }
            }
        default: return [:]
        }
    }
}
