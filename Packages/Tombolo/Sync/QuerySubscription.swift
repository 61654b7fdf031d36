public import TomboloModel

/// A named query that a device wants to have: `QuerySubscription<Listing>(name: "home-search") { $0.price < 300_000 }`.
public struct QuerySubscription<T: Object>: Sendable {
    let name: String?
    let predicate: Predicate

    /// Every object of the class, without a query.
    public init(name: String? = nil, query: ((Query<T>) -> Query<Bool>)? = nil) {
        self.name = name
        predicate = query.map { Query<T>.predicate($0) } ?? .constant(true)
    }

    /// As Realm spells it.
    public init(name: String? = nil, where query: (Query<T>) -> Query<Bool>) {
        self.name = name
        predicate = Query<T>.predicate(query)
    }
}
