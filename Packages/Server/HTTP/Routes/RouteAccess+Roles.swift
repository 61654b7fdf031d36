import Hummingbird
import TomboloModel
public import TomboloRules
import TomboloLocalization

extension RouteAccess where Grant == Subject {
    /// For users who have one of the roles everywhere.
    public static func role(_ roles: Role...) -> RouteAccess {
        let names: @Sendable () -> String = { roles.map { localizedName($0.name) }.joinedByOr }
        let found: @Sendable (Subject) -> Role? = { subject in
            roles.first { subject.grants.contains(RoleGrant(role: $0, scope: nil)) }
        }
        return RouteAccess(
            deciding: [names], token: .required, forecast: { found($0) == nil ? .refused : .allowed }
        ) { subject, _, _ in
            guard let role = found(subject) else {
                throw RequestFailure.lacks(localized("the role \(names())"), subject)
            }
            return RouteVerdict(grant: subject, reasons: ["\(role)"])
        }
    }

    /// For users who have one of the roles in the object that the request leads to. Others get 403 whether or not that
    /// object exists.
    public static func role(_ roles: Role..., in scope: RouteScope) -> RouteAccess {
        let names: @Sendable () -> String = { roles.map { localizedName($0.name) }.joinedByOr }
        return RouteAccess(
            deciding: [{ localized("\(names()) in \(scope.words())") }], token: .required, parameters: scope.parameters,
            forecast: { subject in
                subject.grants.contains { $0.scope != nil && roles.contains($0.role) } ? .ownOnly : .refused
            }
        ) { subject, _, context in
            guard let key = try await scope.key(context),
                let role = roles.first(where: { subject.grants.contains(RoleGrant(role: $0, scope: key)) })
            else { throw RequestFailure.lacks(localized("the role \(names()) in \(scope.words())"), subject) }
            let reason = MessageCatalogue.$current.withValue(nil) { "\(role) in \(scope.words())" }
            return RouteVerdict(grant: subject, reasons: [reason])
        }
    }
}

extension RouteAccess where Grant == ObjectsGrant {
    /// For callers whom the rules permit the operation on some objects of a class, among those that belong to the
    /// object that the request leads to. The handler must apply the filter that it gets.
    /// - Parameter property: links the objects to that object.
    public static func can(
        _ operation: TomboloRules.Operation, _ className: String, in scope: RouteScope, through property: String,
        by rules: LiveRules
    ) -> RouteAccess {
        let summary: @Sendable () -> String = {
            localized("\(operation.verb) \(className) in \(scope.words())", context: "permission")
        }
        return RouteAccess(
            deciding: [summary], token: .required, parameters: scope.parameters,
            forecast: { min(.ownOnly, RouteForecast($0, operation, className, rules.current)) }
        ) { subject, _, context in
            let rules = rules.current
            guard let index = rules.schema.index(of: className),
                let column = rules.schema[index].columnIndex(property)
            else { throw RequestFailure(.internalError, "There is no property \(className).\(property).") }
            guard let key = try await scope.key(context) else {
                throw RequestFailure.lacks(localized("permission to \(summary())"), subject)
            }
            let resource = Resource.objects(classIndex: index, having: [column: key])
            switch rules.authorize(subject, operation, resource) {
            case .allowed(.constant(false)):
                throw RequestFailure.lacks(
                    localized(
                        "permission to \(summary())"), subject)
            case .denied(let denial): throw RequestFailure(denial)
            case .allowed(let filter):
                let reason = MessageCatalogue.$current.withValue(nil) { "may \(summary())" }
                return RouteVerdict(
                    grant: ObjectsGrant(subject: subject, rules: rules, filter: filter), reasons: [reason])
            }
        }
    }
}

extension RequestFailure {
    /// 401 if nobody is logged in, otherwise 403.
    fileprivate static func lacks(_ what: String, _ subject: Subject) -> RequestFailure {
        RequestFailure(
            subject.isAnonymous ? .unauthenticated : .forbidden, localized("Not permitted: this requires \(what)."),
            hint: subject.isAnonymous ? "Log in with POST /login." : nil)
    }
}
