public import TomboloModel

/// A named query that a device wants to have: `QuerySubscription<Listing>(name: "home-search") { $0.price < 300_000 }`.
public struct QuerySubscription<T: Object>: Sendable {
    let name: String?
    let filter: Filter

    /// Every object of the class, without a query.
    public init(name: String? = nil, query: ((Query<T>) -> Query<Bool>)? = nil) {
        self.name = name
        filter = query.map { Query<T>.filter($0) } ?? .constant(true)
    }

    /// As Realm spells it.
    public init(name: String? = nil, where query: (Query<T>) -> Query<Bool>) {
        self.name = name
        filter = Query<T>.filter(query)
    }

    /// With a string predicate: `QuerySubscription<Listing>(where: "price < %@", 300_000)`. Names and values are those
    /// of ``Results/filter(_:_:)``; a mistake in them stops the program.
    public init(name: String? = nil, where format: String, _ arguments: Any?...) {
        self.name = name
        do {
            filter = try Filter(
                parsing: format, arguments: arguments, for: String(describing: T.self), in: Schema.of([T.self]))
        } catch {
            programError("Invalid predicate: \(error)")
        }
    }

    /// The condition as the server takes it.
    /// - Throws: ``ValueError`` for one that looks at more than one object.
    func predicate(in schema: Schema) throws(ValueError) -> Predicate {
        guard let item = schema[String(describing: T.self)] else {
            throw ValueError("There is no class \(T.self) in the Realm's schema.")
        }
        return try filter.predicate(of: item)
    }
}
