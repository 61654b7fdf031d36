public import TomboloModel
internal import TomboloSyncProtocol

/// A query for the objects that a device wants, with an optional name:
/// `QuerySubscription<Listing>(name: "home-search") { $0.price < 300_000 }`.
public struct QuerySubscription<T: Object>: Sendable {
    let name: String?
    let filter: Filter

    /// Subscribes to the objects that satisfy a query, or to all objects of the class. The query may only compare the
    /// object's own properties with values.
    public init(name: String? = nil, query: ((Query<T>) -> Query<Bool>)? = nil) {
        self.name = name
        filter = query.map { Query<T>.filter($0) } ?? .constant(true)
    }

    /// The same with Realm's argument label.
    public init(name: String? = nil, where query: (Query<T>) -> Query<Bool>) {
        self.name = name
        filter = Query<T>.filter(query)
    }

    /// The same, with a string predicate: `QuerySubscription<Listing>(where: "price < %@", 300_000)`, in the language
    /// of ``Results/filter(_:_:)``. A mistake in it stops the program.
    public init(name: String? = nil, where format: String, _ arguments: Any?...) {
        self.init(name: name, format: format, arguments: arguments)
    }

    init(name: String? = nil, format: String, arguments: [Any?]) {
        self.name = name
        do {
            filter = try Filter(
                parsing: format, arguments: arguments, for: String(describing: T.self), in: Schema.of([T.self]))
        } catch {
            programError("Invalid predicate: \(error)")
        }
    }

    /// The unnamed subscription with the query, or nil if the query can't be subscribed to.
    func subscription(in schema: Schema) -> Subscription? {
        guard let predicate = try? predicate(in: schema) else { return nil }
        return Subscription(name: nil, className: String(describing: T.self), predicate: predicate)
    }

    /// The condition in the form that the server accepts.
    /// - Throws: ``ValueError`` if it depends on more than one object.
    func predicate(in schema: Schema) throws(ValueError) -> Predicate {
        guard let item = schema[String(describing: T.self)] else {
            throw ValueError("There is no class \(T.self) in the Realm's schema.")
        }
        return try filter.predicate(of: item)
    }
}
