public import TomboloModel
internal import TomboloSQL

/// Queries on collections. Their results are live.
extension RealmCollection {
    /// Stops the program for an unmanaged list.
    private var results: Results<Element> {
        guard let results = _results else {
            programError("Only managed lists can be queried: add the list's object to a Realm first.")
        }
        return results
    }

    /// The elements that also satisfy a condition, in the same order: `where { $0.price < 300_000 && $0.room.name ==
    /// "Hall" }`.
    public func `where`(_ isIncluded: (Query<Element>) -> Query<Bool>) -> Results<Element> {
        results.filter(Query<Element>.filter(isIncluded))
    }

    /// The elements that also satisfy a string predicate, in Realm's subset of the `NSPredicate` language:
    ///
    ///     realm.objects(Person.self).filter("age > %@ AND ANY dogs.name BEGINSWITH[c] %@", 20, "r")
    ///
    /// Write values in the text or pass them as arguments: `%@` stands for values, nil, objects, enumerations, and
    /// arrays or sets (for IN and BETWEEN), `%K` for key paths, and `$0` for an argument by its number. `SELF` is the
    /// element itself. A mistake in the text stops the program with a message that shows where it is;
    /// ``Filter/init(parsing:arguments:for:in:)`` throws instead.
    public func filter(_ format: String, _ arguments: Any?...) -> Results<Element> {
        results.filter(format: format, arguments)
    }

    /// The index of the first element that satisfies a string predicate, or nil. See ``filter(_:_:)``.
    public func index(matching format: String, _ arguments: Any?...) -> Int? {
        results.filter(format: format, arguments).first.flatMap { index(of: $0) }
    }

    /// The index of the first element that satisfies a condition, or nil.
    public func index(matching isIncluded: (Query<Element>) -> Query<Bool>) -> Int? {
        self.where(isIncluded).first.flatMap { index(of: $0) }
    }

    /// Sorts by a property, possibly through links: `"room.name"`; `"self"` stands for a list's values. In ascending
    /// order nil comes first, values behind a missing link or embedded object come last, and false comes before true.
    /// Strings are ordered by their UTF-8 bytes. The sort is stable.
    public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Element> {
        sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
    }

    /// Sorts by several properties, the first being the most significant.
    public func sorted(by descriptors: some Sequence<SortDescriptor>) -> Results<Element> {
        results.sorted(descriptors.map { ($0.path, $0.ascending) })
    }

    /// The first element, in the current order, for each distinct set of values of these properties, such as `"name"`
    /// or `"room.name"`. Elements whose links are nil are left out. Conditions apply before this, even if added later.
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
    /// Sorts by a property, possibly through links: `\.room?.name`.
    public func sorted<Property: Persistable>(
        by keyPath: KeyPath<Element, Property>, ascending: Bool = true
    ) -> Results<Element> {
        sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
    }

    /// The first element, in the current order, for each distinct set of values of these properties.
    public func distinct(by keyPaths: [PartialKeyPath<Element>]) -> Results<Element> {
        distinct(by: KeyPathNames.names(of: keyPaths).map { $0.joined(separator: ".") })
    }
}

/// Queries on lists of values.
extension RealmCollection where Element.PersistedType: ScalarElement {
    /// The values in ascending order, nil first, or in descending order, nil last.
    public func sorted(ascending: Bool = true) -> Results<Element> {
        sorted(byKeyPath: "self", ascending: ascending)
    }

    /// Each value once, at its first occurrence.
    public func distinct() -> Results<Element> { distinct(by: ["self"]) }
}

extension Results {
    /// The elements that also satisfy a condition.
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
        // The sort is stable: the earlier order breaks ties.
        query.sorts = keys.map { SQLSort(column($0.path), ascending: $0.ascending) } + query.sorts
        return Results(core: content.core, query: query)
    }

    /// The path within the element class, which stores a list's values in a column.
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
