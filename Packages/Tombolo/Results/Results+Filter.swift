public import TomboloModel

extension Results {
    /// Objects that satisfy a string predicate as well, in the language of `NSPredicate` as far as Realm takes it:
    ///
    ///     realm.objects(Person.self).filter("age > %@ AND ANY dogs.name BEGINSWITH[c] %@", 20, "r")
    ///
    /// Values are written in the text or given as arguments: `%@` for values, nil, objects, enumerations, and arrays or
    /// sets (for IN and BETWEEN), `%K` for key paths, `$0` for an argument by its number. A mistake in the text stops
    /// the program with a message that shows where it is; ``Filter/init(parsing:arguments:for:in:)`` throws instead.
    public func filter(_ format: String, _ arguments: Any?...) -> Results<Element> {
        filter(format: format, arguments)
    }

    func filter(format: String, _ arguments: [Any?]) -> Results<Element> { filter(parsed(format, arguments)) }

    /// The position of the first object that satisfies a string predicate. See ``filter(_:_:)``.
    public func index(matching format: String, _ arguments: Any?...) -> Int? {
        index(matching: parsed(format, arguments))
    }

    /// The position of the first object that satisfies a condition.
    public func index(matching isIncluded: (Query<Element>) -> Query<Bool>) -> Int? {
        index(matching: Query<Element>.filter(isIncluded))
    }

    private func index(matching condition: Filter) -> Int? { filter(condition).first.flatMap { index(of: $0) } }

    private func parsed(_ format: String, _ arguments: [Any?]) -> Filter {
        do throws(FilterFormatError) {
            return try Filter(
                parsing: format, arguments: arguments, for: String(describing: Element.self),
                in: content.core.schema)
        } catch {
            programError("Invalid predicate: \(error)")
        }
    }
}
