import Synchronization

/// All routes of one server. Filled while the server is built, read afterwards; the lock is for the compiler's sake.
final class RouteTable: Sendable {
    private let routes = Mutex<[RouteDescription]>([])

    var all: [RouteDescription] { routes.withLock { $0 } }

    func append(_ route: RouteDescription) {
        routes.withLock { $0.append(route) }
    }

    /// A route that the router has. One that nobody decided about counts as open to everybody.
    func description(of method: String, at path: String) -> RouteDescription {
        all.first { $0.method == method && $0.path == path }
            ?? RouteDescription(method: method, path: path, access: "everybody: nobody decided", isOpen: true)
    }

    /// The methods that an address knows, in the order of their names; none where there is no such address.
    func methods(for address: String) -> [String] {
        let found = Set(all.filter { $0.matches(address) }.map(\.method))
        return (found.contains("GET") ? found.union(["HEAD"]) : found).sorted()
    }
}
