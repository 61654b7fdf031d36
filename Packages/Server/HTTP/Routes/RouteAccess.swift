import Hummingbird
public import TomboloModel
public import TomboloRules

/// Who may use a route. `Grant` is what the decision hands to the route's handler.
public struct RouteAccess<Grant: Sendable>: Sendable {
    /// In words, for the list of routes.
    let summary: String
    let token: TokenNeed
    let decide: @Sendable (Subject, Request, EdgeContext) async throws -> Grant
}

extension RouteAccess where Grant == Void {
    /// For everybody, whatever the rules say.
    /// - Parameter reason: why nothing needs protection here.
    public static func open(because reason: String) -> RouteAccess {
        RouteAccess(summary: "everybody: \(reason)", token: .ignored) { _, _, _ in }
    }
}

extension RouteAccess {
    /// For those whom `other` lets through as well; it is asked first, and what it grants is dropped.
    public func and<Other>(_ other: RouteAccess<Other>) -> RouteAccess {
        let token: TokenNeed =
            switch (token, other.token) {
            case (.required, _), (_, .required): .required
            case (.optional, _), (_, .optional): .optional
            case (.ignored, .ignored): .ignored
            }
        return RouteAccess(summary: "\(other.summary) and \(summary)", token: token) { subject, request, context in
            _ = try await other.decide(subject, request, context)
            return try await decide(subject, request, context)
        }
    }
}

extension RouteAccess where Grant == ClassesGrant {
    /// For those whom the rules permit the operation on some objects of at least one of the classes.
    public static func objects(_ operation: TomboloRules.Operation, ofAny classNames: [String], by rules: LiveRules)
        -> RouteAccess
    {
        let needs = classNames.map { need(operation, $0, rules) }
        return RouteAccess(
            summary: "\(operation) \(classNames.joined(separator: " or "))",
            token: needs.allSatisfy { $0 == .required } ? .required : .optional
        ) { subject, _, _ in
            var filters: [String: Predicate] = [:]
            var refusal: RequestFailure?
            for name in classNames {
                do {
                    filters[name] = try filter(subject, operation, name, rules)
                } catch let failure as RequestFailure {
                    refusal = refusal ?? failure
                }
            }
            guard !filters.isEmpty else { throw refusal ?? RequestFailure(.forbidden, "This is not permitted.") }
            return ClassesGrant(subject: subject, filters: filters)
        }
    }
}

extension RouteAccess where Grant == ObjectsGrant {
    /// For those whom the rules permit the operation on some objects of a class. The handler must apply the filter
    /// that it gets. Whether a token is needed follows from the rules too.
    public static func objects(_ operation: TomboloRules.Operation, of className: String, by rules: LiveRules)
        -> RouteAccess
    {
        RouteAccess(summary: "\(operation) \(className)", token: need(operation, className, rules)) {
            subject, _, _ in
            ObjectsGrant(subject: subject, filter: try filter(subject, operation, className, rules))
        }
    }
}

extension RouteAccess where Grant == ObjectGrant {
    /// For those whom the rules permit the operation on the object whose id is in the address.
    ///
    /// Who may do it to no object of the class learns nothing about ids: 403 (401) comes before 404. An object that
    /// exists and that the caller may not even read counts as not existing.
    /// - Parameter reader: loads the object; one in the trash is not found.
    public static func object(
        _ operation: TomboloRules.Operation, of className: String, by rules: LiveRules, from reader: RowReader
    ) -> RouteAccess {
        RouteAccess(summary: "\(operation) \(className)", token: need(operation, className, rules)) {
            subject, _, context in
            _ = try filter(subject, operation, className, rules)
            let id = try context.id()
            guard let classIndex = rules.schema.index(of: className),
                let row = try await reader.object(className, id: id)
            else { throw RequestFailure.noSuchObject(className) }
            let resource = Resource.object(classIndex: classIndex, old: row, new: row)
            switch rules.authorize(subject, operation, resource) {
            case .allowed: return ObjectGrant(subject: subject, id: id, row: row)
            case .denied(let denial):
                guard rules.authorize(subject, .read, resource).isAllowed else {
                    throw RequestFailure.noSuchObject(className)
                }
                throw RequestFailure(denial)
            }
        }
    }
}

/// Leave for some objects of a class: those that satisfy ``filter``.
public struct ObjectsGrant: Sendable {
    public let subject: Subject
    public let filter: Predicate
}

/// Leave for some objects of several classes: those that satisfy the filter of their class. Classes without one are
/// not permitted.
public struct ClassesGrant: Sendable {
    public let subject: Subject
    public let filters: [String: Predicate]
}

/// Leave for one object, with its row as it was when the decision was made.
public struct ObjectGrant: Sendable {
    public let subject: Subject
    public let id: ObjectId
    public let row: Row
}

private func need(
    _ operation: TomboloRules.Operation, _ className: String, _ rules: LiveRules
) -> TokenNeed {
    let isPermitted = (try? filter(.anonymous, operation, className, rules)) != nil
    return isPermitted ? .optional : .required
}

/// - Throws: ``RequestFailure`` where the rules permit the operation on no object of the class.
private func filter(
    _ subject: Subject, _ operation: TomboloRules.Operation, _ className: String, _ rules: LiveRules
) throws -> Predicate {
    guard let classIndex = rules.schema.index(of: className) else {
        throw RequestFailure(.internalError, "There is no class \(className).")
    }
    do throws(Decision.Denial) {
        return try rules.authorize(subject, operation, .objects(classIndex: classIndex)).get()
    } catch {
        throw RequestFailure(error)
    }
}

extension RequestFailure {
    /// 401 where nobody is logged in, otherwise 403.
    public init(_ denial: Decision.Denial) {
        self.init(
            denial.needsLogin ? .unauthenticated : .forbidden, denial.reason,
            hint: denial.needsLogin ? "Log in with POST /login." : nil)
    }

    /// 404 for an id that no live object of the class has, or one that the caller may not know of.
    public static func noSuchObject(_ className: String) -> RequestFailure {
        RequestFailure(
            .notFound, "There is no \(className) with this id.",
            hint: "It may be in the trash, or it takes a login or another role to see it.")
    }
}
