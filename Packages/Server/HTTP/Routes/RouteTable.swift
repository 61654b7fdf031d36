public import Hummingbird
import Synchronization
public import TomboloLocalization
import TomboloRules

/// Which translations a request gets; nil for none.
public typealias LanguageChoice = @Sendable (Request, EdgeContext) -> MessageCatalogue?

/// All routes of one server. Filled while the server is built, read afterwards; the lock is for the compiler's sake.
final class RouteTable: Sendable {
    private struct Entry {
        let route: RouteDescription
        let forecast: @Sendable (Subject) -> RouteForecast
        let bodyBytes: Int?
    }

    private let entries = Mutex<[Entry]>([])
    private let mistakes = Mutex<[String]>([])
    private let formats = Mutex<[(prefix: String, format: FailureFormat)]>([])

    private let quiet = Mutex<Set<String>>([])
    private let quietIfUnchanged = Mutex<Set<String>>([])
    private let languages = Mutex<[(prefix: String, choose: LanguageChoice)]>([])

    var all: [RouteDescription] { entries.withLock { $0.map(\.route) } }

    /// Why the server doesn't start; empty for a table in order.
    var problems: [String] { mistakes.withLock { $0 } }

    /// - Parameters:
    ///   - parameters: what the route's access looks at.
    ///   - bodyBytes: the longest body, where the route has a bound of its own.
    func append(
        _ route: RouteDescription, parameters: Set<String>, forecast: @escaping @Sendable (Subject) -> RouteForecast,
        bodyBytes: Int? = nil
    ) {
        entries.withLock { $0.append(Entry(route: route, forecast: forecast, bodyBytes: bodyBytes)) }
        let missing = parameters.subtracting(route.parameters).sorted()
        guard !missing.isEmpty else { return }
        mistakes.withLock {
            $0.append("\(route) decides by {\(missing.joined(separator: "}, {"))}, which its address doesn't have.")
        }
    }

    /// Keeps the server from starting.
    func refuse(_ mistake: String) { mistakes.withLock { $0.append(mistake) } }

    /// What comes of each route's access for a subject.
    func forecasts(for subject: Subject) -> [(route: RouteDescription, forecast: RouteForecast)] {
        entries.withLock { $0 }.map { ($0.route, $0.forecast(subject)) }
    }

    func report(below prefix: String, as format: FailureFormat) {
        formats.withLock { $0.append((prefix, format)) }
    }

    /// How failures are written at an address; nil for the edge's own way.
    func failureFormat(for address: String) -> FailureFormat? {
        formats.withLock { $0 }.first { address == $0.prefix || address.hasPrefix("\($0.prefix)/") }?.format
    }

    func translate(below prefix: String, by choose: @escaping LanguageChoice) {
        languages.withLock { $0.append((prefix, choose)) }
    }

    func leaveOut(_ path: String) { quiet.withLock { _ = $0.insert(path) } }

    /// Whether a route's answers are left out of the log of requests, unless something went wrong.
    func isLeftOut(_ path: String) -> Bool { quiet.withLock { $0.contains(path) } }

    func leaveUnchangedOut(_ path: String) { quietIfUnchanged.withLock { _ = $0.insert(path) } }

    /// Whether a route's answers are left out if the caller's copy is still good.
    func isLeftOutIfUnchanged(_ path: String) -> Bool { quietIfUnchanged.withLock { $0.contains(path) } }

    /// How the language of a request is found; nil where everything is English.
    func languageChoice(for address: String) -> LanguageChoice? {
        languages.withLock { $0 }.first { address == $0.prefix || address.hasPrefix("\($0.prefix)/") }?.choose
    }

    /// A route that the router has. One that nobody decided about counts as open to everybody.
    func description(of method: String, at path: String) -> RouteDescription {
        all.first { $0.method == method && $0.path == path }
            ?? RouteDescription(method: method, path: path, access: { "everybody: nobody decided" }, isOpen: true)
    }

    /// The longest body that a route takes, where it has a bound of its own.
    func bodyBytes(for method: String, _ address: String) -> Int? {
        entries.withLock { $0 }.first { $0.bodyBytes != nil && $0.route.method == method && $0.route.matches(address) }?
            .bodyBytes
    }

    /// The methods that an address knows, in the order of their names; none where there is no such address.
    func methods(for address: String) -> [String] {
        // Where a part has a way of its own to tell failures, only its routes count: `/panel/nothing` isn't an object of
        // a class, which one could delete.
        let part = formats.withLock { $0 }.first { address == $0.prefix || address.hasPrefix("\($0.prefix)/") }?.prefix
        let found = Set(
            all.filter { route in
                route.matches(address)
                    && (part.map { route.path == $0 || route.path.hasPrefix("\($0)/") } ?? true)
            }.map(\.method))
        return (found.contains("GET") ? found.union(["HEAD"]) : found).sorted()
    }
}
