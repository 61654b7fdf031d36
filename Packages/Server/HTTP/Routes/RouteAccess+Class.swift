public import TomboloModel
public import TomboloRules
import TomboloLocalization

/// Permission for some objects of a class. The handler must ask the rules about each of them, or apply their filter.
public struct ClassGrant: Sendable {
    public let subject: Subject
    /// The rules that made the decision.
    public let rules: Rules
    /// The class, by its position in the schema of ``rules``.
    public let classIndex: Int
}

extension RouteAccess where Grant == ClassGrant {
    /// For callers whom the rules permit at least one of some operations, on some objects of the class in the address.
    /// Without an access token the caller is anonymous; the current rules decide whether that is enough.
    /// - Parameters:
    ///   - summary: the operations in words, for the list of routes.
    ///   - what: the classes in words.
    ///   - operations: returns a class's operations; one of them must be permitted.
    ///   - find: finds the class in the current model; throws a ``RequestFailure`` if the address names none.
    public static func someObjects(
        _ summary: @autoclosure @escaping @Sendable () -> String,
        ofAny what: @autoclosure @escaping @Sendable () -> String,
        _ operations: @escaping @Sendable (ClassSchema) -> [TomboloRules.Operation], by rules: LiveRules,
        _ find: @escaping @Sendable (Schema, EdgeContext) throws -> Int
    ) -> RouteAccess {
        RouteAccess(
            summary: Operation.verb(summary(), what()), token: .optional,
            forecast: { RouteForecast($0, operations, rules.current) }
        ) { subject, _, context in
            let rules = rules.current
            let classIndex = try find(rules.schema, context)
            var denial: Decision.Denial?
            for operation in operations(rules.schema[classIndex]) {
                guard let refusal = rules.refusal(subject, operation, ofClassAt: classIndex) else {
                    return ClassGrant(subject: subject, rules: rules, classIndex: classIndex)
                }
                denial = denial ?? refusal
            }
            throw denial.map { RequestFailure($0) } ?? RequestFailure(.forbidden, localized("Not permitted."))
        }
    }
}

/// Permission to continue with a request that names its classes itself. The handler must ask the rules about each
/// object.
public struct ModelGrant: Sendable {
    public let subject: Subject
    /// The rules that made the decision.
    public let rules: Rules
}

extension RouteAccess where Grant == ModelGrant {
    /// For callers whom the rules permit at least one of some operations, on some objects of any class.
    /// - Parameters:
    ///   - summary: the operations in words, for the list of routes.
    ///   - what: the classes in words.
    ///   - isOpen: whether callers may be anonymous; otherwise an access token is required.
    ///   - operations: returns a class's operations; none for a class that doesn't count.
    public static func anyObjects(
        _ summary: @autoclosure @escaping @Sendable () -> String,
        ofAny what: @autoclosure @escaping @Sendable () -> String, isOpen: Bool = false, by rules: LiveRules,
        _ operations: @escaping @Sendable (ClassSchema) -> [TomboloRules.Operation]
    ) -> RouteAccess {
        RouteAccess(
            summary: Operation.verb(summary(), what()), token: isOpen ? .optional : .required,
            forecast: { subject in
                guard subject.userID != nil || isOpen else { return .refused }
                // Only the request says which objects it's about.
                return RouteForecast(subject, operations, rules.current) == .refused ? .refused : .allowed
            }
        ) { subject, _, _ in
            let rules = rules.current
            var denial: Decision.Denial?
            for index in rules.schema.classes.indices {
                for operation in operations(rules.schema[index]) {
                    guard let refusal = rules.refusal(subject, operation, ofClassAt: index) else {
                        return ModelGrant(subject: subject, rules: rules)
                    }
                    denial = denial ?? refusal
                }
            }
            // Each refusal names one class, but the caller asked about no particular one.
            if let denial, denial.needsLogin { throw RequestFailure(denial) }
            throw RequestFailure(.forbidden, localized("Not permitted: no role lets you \(summary()) \(what())."))
        }
    }
}
