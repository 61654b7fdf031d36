public import Hummingbird
public import PostgresClient
public import TomboloModel
public import TomboloRules
import TomboloLocalization

/// Who may use a route: a decorator. Decorators are values, which compose with ``and(_:)`` in any order and with
/// ``or(_:)``; what they decide by is the route's own parameters and what these lead to, never words in an address.
/// `Grant` is what the decision hands to the route's handler.
public struct RouteAccess<Grant: Sendable>: Sendable {
    /// All that it asks for, in words of the page's language.
    let conditions: [@Sendable () -> String]
    let token: TokenNeed
    /// The parameters of the address that it looks at. A route without one of them doesn't start.
    let parameters: Set<String>
    /// What comes of it for a subject, whatever objects the address names.
    let forecast: @Sendable (Subject) -> RouteForecast
    let decide: @Sendable (Subject, Request, EdgeContext) async throws -> RouteVerdict<Grant>
    /// What boxes of a permission matrix would have to be for, each of which lets its role through; none where boxes alone
    /// don't.
    package private(set) var purposes: Set<BoxPurpose> = []

    /// The same, which boxes for a purpose let roles through to.
    package func opened(by purpose: BoxPurpose) -> RouteAccess {
        var access = self
        access.purposes.insert(purpose)
        return access
    }

    /// - Parameters:
    ///   - decide: throws a ``RequestFailure`` with status 401 or 403 for those who may not, and with another status
    ///     for an address that leads nowhere.
    init(
        deciding conditions: [@Sendable () -> String], token: TokenNeed, parameters: Set<String> = [],
        forecast: @escaping @Sendable (Subject) -> RouteForecast,
        decide: @escaping @Sendable (Subject, Request, EdgeContext) async throws -> RouteVerdict<Grant>
    ) {
        self.conditions = conditions
        self.token = token
        self.parameters = parameters
        self.forecast = forecast
        self.decide = decide
    }

    /// Access of a service's own kind, which always takes an access token. The reason of a verdict is the summary.
    /// - Parameters:
    ///   - summary: in words, for the list of routes; made anew for each page that shows it, in its language.
    ///   - forecast: what comes of it for a subject, whatever the request.
    ///   - decide: throws a ``RequestFailure`` with status 401 or 403 for those who may not.
    public init(
        summary: @autoclosure @escaping @Sendable () -> String,
        forecast: @escaping @Sendable (Subject) -> RouteForecast,
        decide: @escaping @Sendable (Subject, Request, EdgeContext) async throws -> Grant
    ) {
        self.init(summary: summary(), token: .required, forecast: forecast, decide: decide)
    }

    init(
        summary: @autoclosure @escaping @Sendable () -> String, token: TokenNeed, parameters: Set<String> = [],
        forecast: @escaping @Sendable (Subject) -> RouteForecast,
        decide: @escaping @Sendable (Subject, Request, EdgeContext) async throws -> Grant
    ) {
        // Developers read it, in a header.
        let reason = MessageCatalogue.$current.withValue(nil) { summary() }
        self.init(deciding: [summary], token: token, parameters: parameters, forecast: forecast) {
            RouteVerdict(grant: try await decide($0, $1, $2), reasons: [reason])
        }
    }

    /// Whether it may let a subject through, whatever objects an address names: for navigation, which decides nothing.
    package func mayAdmit(_ subject: Subject) -> Bool { forecast(subject) != .refused }

    /// Whether nobody is asked who they are.
    package var ignoresCaller: Bool { token == .ignored }

    /// For the list of routes.
    var summary: @Sendable () -> String { { [conditions] in conditions.map { $0() }.sorted().joinedByAnd } }
}

extension RouteAccess where Grant == Void {
    /// For everybody, whatever the rules say.
    /// - Parameter reason: why nothing needs protection here.
    public static func open(because reason: @autoclosure @escaping @Sendable () -> String) -> RouteAccess {
        RouteAccess(
            summary: localized("everybody: \(reason())"), token: .ignored, forecast: { _ in .allowed },
            decide: { _, _, _ in })
    }
}

extension RouteAccess where Grant == ClassesGrant {
    /// For those whom the rules permit the operation on some objects of at least one of the classes. It always takes an
    /// access token, for what the rules let anonymous visitors do may change.
    /// - Parameters:
    ///   - what: the classes in words, for the list of routes.
    ///   - classNames: picks the classes of the model as it is.
    public static func objects(
        _ operation: TomboloRules.Operation, ofAny what: @autoclosure @escaping @Sendable () -> String,
        _ classNames: @escaping @Sendable (Schema) -> [String], by rules: LiveRules
    ) -> RouteAccess {
        RouteAccess(
            summary: operation.verb(what()), token: .required,
            forecast: { subject in
                let rules = rules.current
                let found = classNames(rules.schema).map { RouteForecast(subject, operation, $0, rules) }
                return found.max() ?? .refused
            }
        ) { subject, _, _ in
            try ClassesGrant(subject, operation, ofAny: what(), classNames, by: rules.current)
        }.opened(by: .objects(operation))
    }
}

extension RouteAccess where Grant == ObjectsGrant {
    /// For those whom the rules permit the operation on some objects of a class. The handler must apply the filter
    /// that it gets. Whether a token is needed follows from the rules too.
    /// - Parameter values: what the objects that the request is about have in some properties, by name; the filter is
    ///   about these objects only.
    public static func objects(
        _ operation: TomboloRules.Operation, of className: String, by rules: LiveRules,
        having values: @escaping @Sendable (EdgeContext) throws -> [String: Value] = { _ in [:] }
    ) -> RouteAccess {
        RouteAccess(
            summary: operation.verb(className), token: need(operation, className, rules.current),
            forecast: { RouteForecast($0, operation, className, rules.current) }
        ) { subject, _, context in
            let rules = rules.current
            let filter = try filter(subject, operation, className, rules, having: values(context))
            return ObjectsGrant(subject: subject, rules: rules, filter: filter)
        }
    }
}

extension RouteAccess where Grant == ObjectGrant {
    /// For those whom the rules permit the operation on the object whose id is in the address.
    ///
    /// Who may do it to no object of the class learns nothing about ids: 403 (401) comes before 404. An object that
    /// exists and that the caller may not even read counts as not existing.
    /// - Parameter pool: where the object is loaded from; one in the trash is not found.
    public static func object(
        _ operation: TomboloRules.Operation, of className: String, by rules: LiveRules, from pool: PostgresPool
    ) -> RouteAccess {
        let loader = ObjectLoader(pool)
        return RouteAccess(
            summary: operation.verb(className), token: need(operation, className, rules.current),
            parameters: ["id"], forecast: { RouteForecast($0, operation, className, rules.current) }
        ) { subject, _, context in
            try await grant(operation, className, subject, context, rules.current, loader)
        }
    }

    /// As ``object(_:of:by:from:)``, for an object of the class that the address names. It always takes an access token.
    /// - Parameters:
    ///   - what: the classes in words, for the list of routes.
    ///   - find: the class of the model as it is; throws a ``RequestFailure`` for an address of none.
    ///   - classNames: all that it can find.
    ///   - other: an operation that the subject must be permitted on some objects of the class as well.
    public static func object(
        _ operation: TomboloRules.Operation, ofAny what: @autoclosure @escaping @Sendable () -> String,
        _ find: @escaping @Sendable (Schema, EdgeContext) throws -> String,
        among classNames: @escaping @Sendable (Schema) -> [String],
        also other: TomboloRules.Operation? = nil, by rules: LiveRules, from pool: PostgresPool
    ) -> RouteAccess {
        let loader = ObjectLoader(pool)
        let operations = [other, operation].compactMap(\.self)
        return RouteAccess(
            summary: Operation.verb(operations.map(\.verb).joinedByAnd, what()), token: .required, parameters: ["id"],
            forecast: { subject in
                let rules = rules.current
                let found = classNames(rules.schema).map { name in
                    let own = RouteForecast(subject, operation, name, rules)
                    return other.map { min(own, RouteForecast(subject, $0, name, rules)) } ?? own
                }
                return found.max() ?? .refused
            }
        ) { subject, _, context in
            let rules = rules.current
            let className = try find(rules.schema, context)
            if let other { try requireAny(subject, other, className, rules) }
            return try await grant(operation, className, subject, context, rules, loader)
        }
    }

    private static func grant(
        _ operation: TomboloRules.Operation, _ className: String, _ subject: Subject, _ context: EdgeContext,
        _ rules: Rules, _ loader: ObjectLoader
    ) async throws -> ObjectGrant {
        let classIndex = try requireAny(subject, operation, className, rules)
        let key = try context.key(of: rules.schema[classIndex])
        guard let row = try await loader.object(classIndex: classIndex, key: key, in: rules.schema) else {
            throw RequestFailure.noSuchObject(className)
        }
        let resource = Resource.object(classIndex: classIndex, old: row, new: row)
        switch rules.authorize(subject, operation, resource) {
        case .allowed: return ObjectGrant(subject: subject, rules: rules, className: className, key: key, row: row)
        case .denied(let denial):
            guard rules.authorize(subject, .read, resource).isAllowed else {
                throw RequestFailure.noSuchObject(className)
            }
            throw RequestFailure(denial)
        }
    }
}

/// Leave for some objects of a class: those that satisfy ``filter``, of those that the route is about.
public struct ObjectsGrant: Sendable {
    public let subject: Subject
    /// That the decision was made by; ``filter`` is about their classes.
    public let rules: Rules
    public let filter: Predicate
}

/// Leave for some objects of several classes: those that satisfy the filter of their class. Classes without one are
/// not permitted.
public struct ClassesGrant: Sendable {
    public let subject: Subject
    /// That the decision was made by; ``filters`` are about their classes.
    public let rules: Rules
    public let filters: [String: Predicate]
}

extension ClassesGrant {
    /// Decides as ``RouteAccess/objects(_:ofAny:_:by:)`` does, where the question came by another way than a route.
    /// - Throws: ``RequestFailure`` with status 401 or 403 if the rules permit the operation on no object of the classes.
    public init(
        _ subject: Subject, _ operation: TomboloRules.Operation, ofAny what: String,
        _ classNames: (Schema) -> [String], by rules: Rules
    ) throws {
        var filters: [String: Predicate] = [:]
        var refusal: RequestFailure?
        for name in classNames(rules.schema) {
            do {
                filters[name] = try filter(subject, operation, name, rules)
            } catch let failure as RequestFailure {
                refusal = refusal ?? failure
            }
        }
        guard !filters.isEmpty else {
            // The refusals name one class each, and nobody asked about one.
            if let refusal, refusal.code != .forbidden { throw refusal }
            throw RequestFailure(
                .forbidden,
                operation == .listTrash
                    ? localized("Not permitted: you may not view the trash.")
                    : localized("Not permitted: no role lets you \(operation.verb) \(what)."))
        }
        self.init(subject: subject, rules: rules, filters: filters)
    }
}

/// Leave for one object, with its row as it was when the decision was made.
public struct ObjectGrant: Sendable {
    public let subject: Subject
    /// That the decision was made by; ``row`` is one of their classes.
    public let rules: Rules
    public let className: String
    public let key: Value
    public let row: Row

    /// The key where it's an ObjectId.
    public var id: ObjectId? { if case .objectId(let id) = key { id } else { nil } }
    /// The key as addresses have it.
    public var keyText: String { key.keyText }
}

private func need(
    _ operation: TomboloRules.Operation, _ className: String, _ rules: Rules
) -> TokenNeed {
    let isPermitted = (try? requireAny(.anonymous, operation, className, rules)) != nil
    return isPermitted ? .optional : .required
}

/// - Parameter values: of the objects that the filter is about, by the names of properties.
/// - Throws: ``RequestFailure`` where the rules permit the operation on no object of the class.
private func filter(
    _ subject: Subject, _ operation: TomboloRules.Operation, _ className: String, _ rules: Rules,
    having values: [String: Value] = [:]
) throws -> Predicate {
    let classIndex = try classIndex(className, rules)
    let item = rules.schema[classIndex]
    var known: [Int: Value] = [:]
    for (name, value) in values {
        guard let column = item.columnIndex(name) else {
            throw RequestFailure(.internalError, "\(className) has no property '\(name)'.")
        }
        known[column] = value
    }
    do throws(Decision.Denial) {
        return try rules.authorize(subject, operation, .objects(classIndex: classIndex, having: known)).get()
    } catch {
        throw RequestFailure(error)
    }
}

/// - Returns: the position of the class.
/// - Throws: ``RequestFailure`` where the rules permit the operation on no object of the class.
@discardableResult
private func requireAny(
    _ subject: Subject, _ operation: TomboloRules.Operation, _ className: String, _ rules: Rules
) throws -> Int {
    let classIndex = try classIndex(className, rules)
    if let denial = rules.refusal(subject, operation, ofClassAt: classIndex) { throw RequestFailure(denial) }
    return classIndex
}

private func classIndex(_ className: String, _ rules: Rules) throws -> Int {
    guard let index = rules.schema.index(of: className) else {
        throw RequestFailure(.internalError, "There is no class \(className).")
    }
    return index
}

extension RequestFailure {
    /// 401 where nobody is logged in, otherwise 403.
    public init(_ denial: Decision.Denial) {
        self.init(
            denial.needsLogin ? .unauthenticated : .forbidden, denial.wording.localized,
            hint: denial.needsLogin ? "Log in with POST /login." : nil)
    }

    /// 404 for an id that no live object of the class has, or one that the caller may not know of.
    public static func noSuchObject(_ className: String) -> RequestFailure {
        RequestFailure(
            .notFound, localized("There is no \(className) with this id."),
            hint: localized("It may be in the trash, or you may not see it."))
    }
}
