internal import TomboloModel

extension Results {
    /// The first of those that have the same values in these properties, `"name"` or `"room.name"`, in the present order.
    public func distinct(by keyPaths: some Sequence<String>) -> Results<Element> {
        var query = content.query
        let paths = keyPaths.map { keyPath in
            PropertyPath(keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init))
        }
        query.distincts.append(
            ObjectQuery.Distinct(paths: paths, predicate: query.predicate, sorts: query.sorts))
        return Results(core: content.core, query: query)
    }

    /// The first of those that have the same values in these properties, in the present order.
    public func distinct(by keyPaths: [PartialKeyPath<Element>]) -> Results<Element> {
        distinct(by: KeyPathNames.names(of: keyPaths).map { $0.joined(separator: ".") })
    }
}
