internal import HTTPTypes
internal import Hummingbird
public import TomboloHTTP
internal import TomboloModel
public import TomboloRules

/// The inspector over HTTP, for those whom the rules permit `inspect` on objects of some class. Classes that they may not
/// inspect, and properties that they may not read, are left out of the answers.
///
/// - `GET /inspector/sessions?user=&client=&state=&page=&subscriptions=`
/// - `GET /inspector/sessions/{number}`
/// - `GET /inspector/why?class=&id=&property=` with `client=` or `user=`
public struct InspectorRoutes: Sendable {
    static let sessions = "/inspector/sessions"
    static let why = "/inspector/why"
    /// What the caller has to be permitted to inspect, in words.
    static let what = "devices' sessions"

    private let inspector: Inspector
    private let rules: LiveRules

    public init(_ inspector: Inspector, rules: LiveRules) {
        self.inspector = inspector
        self.rules = rules
    }

    public func add(to routes: Routes) {
        let inspector = inspector
        let access: RouteAccess<ClassesGrant> = .objects(
            .inspect, ofAny: Self.what, Self.classNames, by: rules)
        for path in [Self.sessions, "\(Self.sessions)/{number}", Self.why] {
            routes.on(.get, path, access: access) { request, _, grant in
                JSONAnswer(try await inspector.answer(request, InspectorView(grant)))
            }
        }
    }

    /// Classes by whose objects it is decided who may ask.
    static func classNames(_ schema: Schema) -> [String] {
        schema.classes.filter { $0.owner == nil && !$0.isEmbedded }.map(\.name)
    }
}
