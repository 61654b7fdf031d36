public import Hummingbird
import Synchronization
public import TomboloLocalization
import TomboloRules

/// Picks the translations for a request; nil for none.
public typealias LanguageChoice = @Sendable (Request, EdgeContext) -> MessageCatalogue?

/// All routes of one server. It is filled while the server is built, and only read afterwards; the lock is there for
/// the compiler's sake.
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

    /// Why the server can't start; empty if the table is fine.
    var problems: [String] { mistakes.withLock { $0 } }

    /// - Parameters:
    ///   - parameters: the address parameters that the route's access uses.
    ///   - bodyBytes: the longest body, if the route has its own limit.
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

    /// The outcome of each route's access for a subject.
    func forecasts(for subject: Subject) -> [(route: RouteDescription, forecast: RouteForecast)] {
        entries.withLock { $0 }.map { ($0.route, $0.forecast(subject)) }
    }

    func report(below prefix: String, as format: FailureFormat) {
        formats.withLock { $0.append((prefix, format)) }
    }

    /// How failures at an address are written; nil for the edge's own format.
    func failureFormat(for address: String) -> FailureFormat? {
        formats.withLock { $0 }.first { address == $0.prefix || address.hasPrefix("\($0.prefix)/") }?.format
    }

    func translate(below prefix: String, by choose: @escaping LanguageChoice) {
        languages.withLock { $0.append((prefix, choose)) }
    }

    func leaveOut(_ path: String) { quiet.withLock { _ = $0.insert(path) } }

    /// Whether a route's answers are left out of the request log, unless something went wrong.
    func isLeftOut(_ path: String) -> Bool { quiet.withLock { $0.contains(path) } }

    func leaveUnchangedOut(_ path: String) { quietIfUnchanged.withLock { _ = $0.insert(path) } }

    /// Whether a route's answers are left out if the caller's copy is still valid.
    func isLeftOutIfUnchanged(_ path: String) -> Bool { quietIfUnchanged.withLock { $0.contains(path) } }

    /// How the language of a request is chosen; nil if everything is in English.
    func languageChoice(for address: String) -> LanguageChoice? {
        languages.withLock { $0 }.first { address == $0.prefix || address.hasPrefix("\($0.prefix)/") }?.choose
    }

    /// The description of a route that the router has. A route without an access decision counts as open to everybody.
    func description(of method: String, at path: String) -> RouteDescription {
        all.first { $0.method == method && $0.path == path }
            ?? RouteDescription(method: method, path: path, access: { "everybody: nobody decided" }, isOpen: true)
    }

    /// The longest body that a route accepts, if the route has its own limit.
    func bodyBytes(for method: String, _ address: String) -> Int? {
        entries.withLock { $0 }.first { $0.bodyBytes != nil && $0.route.method == method && $0.route.matches(address) }?
            .bodyBytes
    }

    /// The methods of an address, ordered by name; none if the address doesn't exist.
    func methods(for address: String) -> [String] {
        // If a part of the server has its own failure format, only its own routes count: `/panel/nothing` isn't an
        // object of a class, which one could delete.
        let part = formats.withLock { $0 }.first { address == $0.prefix || address.hasPrefix("\($0.prefix)/") }?.prefix
        let found = Set(
            all.filter { route in
                route.matches(address)
                    && (part.map { route.path == $0 || route.path.hasPrefix("\($0)/") } ?? true)
            }.map(\.method))
        return (found.contains("GET") ? found.union(["HEAD"]) : found).sorted()
    }
}
