public import TomboloModel
internal import TomboloSQLiteStore

/// Queries on the objects of a list. What they find is live; an object that is in the list twice is found once. For
/// managed lists.
extension List where Element: Object {
    private var objects: Results<Element> {
        guard let list = storage as? ManagedList, let targetType = list.targetType else {
            programError("Queries are for managed lists: add the object to a Realm first.")
        }
        let core = list.host.core
        var query = ObjectQuery(classIndex: targetType.index)
        query.source = ObjectQuery.ListSource(
            elementClass: list.elementType.index, parent: list.host.elementID ?? list.host.key,
            parentType: list.host.type.table.keyType)
        return Results(core: core, query: query)
    }

    /// The objects that satisfy a condition, in the order of the list.
    public func `where`(_ isIncluded: (Query<Element>) -> Query<Bool>) -> Results<Element> { objects.where(isIncluded) }

    /// The objects that satisfy a string predicate, in the order of the list. See ``Results/filter(_:_:)``.
    public func filter(_ format: String, _ arguments: Any?...) -> Results<Element> {
        objects.filter(format: format, arguments)
    }

    /// The objects, sorted by a property.
    public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Element> {
        objects.sorted(byKeyPath: keyPath, ascending: ascending)
    }

    /// The objects, sorted by several properties.
    public func sorted(by descriptors: some Sequence<SortDescriptor>) -> Results<Element> {
        objects.sorted(by: descriptors)
    }

    /// The first of the objects that have the same values in these properties, in the order of the list.
    public func distinct(by keyPaths: some Sequence<String>) -> Results<Element> { objects.distinct(by: keyPaths) }
}
