internal import HTTPTypes
internal import Hummingbird
public import TomboloHTTP
internal import TomboloModel
public import TomboloRules

/// The inspector over HTTP, for those whom the rules permit `inspect` on objects of some class. Classes that they may not
/// inspect, and properties that they may not read, are left out of the answers.
///
/// - `GET /inspector/sessions?user=&client=&state=&page=`
/// - `GET /inspector/sessions/{number}`
/// - `GET /inspector/why?class=&id=&property=` with `client=` or `user=`
public struct InspectorRoutes: Sendable {
    private let inspector: Inspector
    private let rules: LiveRules

    public init(_ inspector: Inspector, rules: LiveRules) {
        self.inspector = inspector
        self.rules = rules
    }

    public func add(to routes: Routes) {
        let inspector = inspector
        let access: RouteAccess<ClassesGrant> = .objects(
            .inspect, ofAny: "devices' sessions",
            { schema in schema.classes.filter { $0.owner == nil && !$0.isEmbedded }.map(\.name) }, by: rules)
        routes.on(.get, "/inspector/sessions", access: access) { request, _, grant in
            JSONAnswer(
                try await inspector.list(try request.sessionFilter(), page: try request.page(), InspectorView(grant)))
        }
        routes.on(.get, "/inspector/sessions/{number}", access: access) { _, context, grant in
            guard let number = context.parameters.get("number").flatMap({ UInt64($0) }) else {
                throw RequestFailure(
                    .badRequest, "The address holds something that is not a session's number.",
                    hint: "GET /inspector/sessions lists them.")
            }
            return JSONAnswer(try await inspector.session(number, InspectorView(grant)))
        }
        routes.on(.get, "/inspector/why", access: access) { request, _, grant in
            let view = InspectorView(grant)
            return JSONAnswer(try await inspector.why(try InspectorQuestion(request, view), view))
        }
    }
}
