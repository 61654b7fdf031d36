internal import HTTPTypes
internal import Hummingbird
public import TomboloHTTP
internal import TomboloModel
public import TomboloRules

/// The inspector over HTTP, for users whom the rules permit to `inspect` objects of some class. Classes that the
/// caller may not inspect, and properties that they may not read, are left out of the answers.
public struct InspectorRoutes: Sendable {
    static let sessions = "/inspector/sessions"
    static let why = "/inspector/why"
    /// What the caller needs permission to inspect, for messages.
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

    /// The classes whose objects decide who may ask.
    static func classNames(_ schema: Schema) -> [String] {
        schema.classes.filter { $0.owner == nil && !$0.isEmbedded }.map(\.name)
    }
}
