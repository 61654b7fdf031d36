public import TomboloModel
internal import TomboloSQL

/// Queries on collections. What they find is live.
extension RealmCollection {
    /// Stops the program for an unmanaged list.
    private var results: Results<Element> {
        guard let results = _results else {
            programError("Queries are for managed lists: add the object to a Realm first.")
        }
        return results
    }

    /// Elements that satisfy a condition as well: `where { $0.price < 300_000 && $0.room.name == "Hall" }`. They keep
    /// their order.
    public func `where`(_ isIncluded: (Query<Element>) -> Query<Bool>) -> Results<Element> {
        results.filter(Query<Element>.filter(isIncluded))
    }

    /// Elements that satisfy a string predicate as well, in the language of `NSPredicate` as far as Realm takes it:
    ///
    ///     realm.objects(Person.self).filter("age > %@ AND ANY dogs.name BEGINSWITH[c] %@", 20, "r")
    ///
    /// Values are written in the text or given as arguments: `%@` for values, nil, objects, enumerations, and arrays or
    /// sets (for IN and BETWEEN), `%K` for key paths, `$0` for an argument by its number; `SELF` is the element itself.
    /// A mistake in the text stops the program with a message that shows where it is;
    /// ``Filter/init(parsing:arguments:for:in:)`` throws instead.
    public func filter(_ format: String, _ arguments: Any?...) -> Results<Element> {
        results.filter(format: format, arguments)
    }

    /// The position of the first element that satisfies a string predicate. See ``filter(_:_:)``.
    public func index(matching format: String, _ arguments: Any?...) -> Int? {
        results.filter(format: format, arguments).first.flatMap { index(of: $0) }
    }

    /// The position of the first element that satisfies a condition.
    public func index(matching isIncluded: (Query<Element>) -> Query<Bool>) -> Int? {
        self.where(isIncluded).first.flatMap { index(of: $0) }
    }

    /// Sorts by a property, or by one behind links: `"room.name"`; `"self"` stands for the values of a list. Nil comes
    /// first in ascending order, what a link or an embedded object that is not there would lead to comes last, false
    /// before true; text is ordered by its UTF-8 bytes. Elements with equal values stay in the order that they had.
    public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Element> {
        sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
    }

    /// Sorts by several properties, the first one first.
    public func sorted(by descriptors: some Sequence<SortDescriptor>) -> Results<Element> {
        results.sorted(descriptors.map { ($0.path, $0.ascending) })
    }

    /// The first of those that have the same values in these properties, `"name"` or `"room.name"`, in the present
    /// order; without those whose links lead nowhere. Conditions come before it, also those that are added later.
    public func distinct(by keyPaths: some Sequence<String>) -> Results<Element> {
        let results = self.results
        var query = results.content.query
        query.distincts.append(
            ObjectQuery.Distinct(
                paths: keyPaths.map { results.column(SortDescriptor(keyPath: $0).path) }, sorts: query.sorts))
        return Results(core: results.content.core, query: query)
    }
}

extension RealmCollection where Element: ObjectBase {
    /// Sorts by a property, or by one behind links: `\.room?.name`.
    public func sorted<Property: Persistable>(
        by keyPath: KeyPath<Element, Property>, ascending: Bool = true
    ) -> Results<Element> {
        sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
    }

    /// The first of those that have the same values in these properties, in the present order.
    public func distinct(by keyPaths: [PartialKeyPath<Element>]) -> Results<Element> {
        distinct(by: KeyPathNames.names(of: keyPaths).map { $0.joined(separator: ".") })
    }
}

/// Of lists of values.
extension RealmCollection where Element.PersistedType: ScalarElement {
    /// The values in their order, nil first.
    public func sorted(ascending: Bool = true) -> Results<Element> {
        sorted(byKeyPath: "self", ascending: ascending)
    }

    /// Each value once, where it comes first.
    public func distinct() -> Results<Element> { distinct(by: ["self"]) }
}

extension Results {
    /// Elements that satisfy a condition as well.
    package func filter(_ predicate: Filter) -> Results<Element> {
        var query = content.query
        query.predicate = .all([query.predicate, predicate])
        return Results(core: content.core, query: query)
    }

    fileprivate func filter(format: String, _ arguments: [Any?]) -> Results<Element> {
        do throws(FilterFormatError) {
            let schema = content.core.schema
            return filter(
                try Filter(
                    parsing: format, arguments: arguments, for: schema[content.query.classIndex].name, in: schema))
        } catch {
            programError("Invalid predicate: \(error)")
        }
    }

    fileprivate func sorted(_ keys: [(path: PropertyPath, ascending: Bool)]) -> Results<Element> {
        var query = content.query
        // Stable: an earlier order decides where this one does not.
        query.sorts = keys.map { SQLSort(column($0.path), ascending: $0.ascending) } + query.sorts
        return Results(core: content.core, query: query)
    }

    /// The path as the element class has it, whose values lie in a column.
    func column(_ path: PropertyPath) -> PropertyPath {
        let path = elementColumn(path)
        do throws(ValueError) {
            _ = try content.core.schema.resolve(path, from: content.type.schema)
        } catch {
            programError("The key path '\(path)' cannot be used: \(error.message)")
        }
        return path
    }

    private func elementColumn(_ path: PropertyPath) -> PropertyPath {
        guard path.names.count == 1, path.names[0].lowercased() == "self",
            let value = content.type.schema.scalarElement
        else { return path }
        return PropertyPath(value.name)
    }
}
