public import Hummingbird
public import PostgresClient
public import TomboloModel
public import TomboloRules
import TomboloLocalization

/// Who may use a route: a decorator. Decorators are values that compose with ``and(_:)`` in any order and with
/// ``or(_:)``. They decide by the route's own parameters and the objects that these lead to, never by words in an
/// address. `Grant` is what the decision passes to the route's handler.
public struct RouteAccess<Grant: Sendable>: Sendable {
    /// All conditions, in words of the page's language.
    let conditions: [@Sendable () -> String]
    let token: TokenNeed
    /// The address parameters that the decision uses. The server refuses to start with a route that lacks one of them.
    let parameters: Set<String>
    /// The expected outcome for a subject, whatever objects the address names.
    let forecast: @Sendable (Subject) -> RouteForecast
    let decide: @Sendable (Subject, Request, EdgeContext) async throws -> RouteVerdict<Grant>
    /// The purposes of permission boxes, each of which admits the box's role. Empty if boxes alone don't admit anybody.
    package private(set) var purposes: Set<BoxPurpose> = []

    /// The same access, which boxes for this purpose open as well.
    package func opened(by purpose: BoxPurpose) -> RouteAccess {
        var access = self
        access.purposes.insert(purpose)
        return access
    }

    /// - Parameters:
    ///   - decide: throws a ``RequestFailure`` with status 401 or 403 for callers who may not, and with another status
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

    /// A service's own kind of access, which always requires an access token. The reason of a verdict is the summary.
    /// - Parameters:
    ///   - summary: in words, for the list of routes. It is evaluated for each page that shows it, in the page's
    ///     language.
    ///   - forecast: the expected outcome for a subject, whatever the request.
    ///   - decide: throws a ``RequestFailure`` with status 401 or 403 for callers who may not.
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
        // Developers read it in a header, in English.
        let reason = MessageCatalogue.$current.withValue(nil) { summary() }
        self.init(deciding: [summary], token: token, parameters: parameters, forecast: forecast) {
            RouteVerdict(grant: try await decide($0, $1, $2), reasons: [reason])
        }
    }

    /// Whether it may admit a subject, whatever objects an address names. It is for navigation and decides nothing.
    package func mayAdmit(_ subject: Subject) -> Bool { forecast(subject) != .refused }

    /// Whether the caller's identity doesn't matter.
    package var ignoresCaller: Bool { token == .ignored }

    /// The conditions in words, for the list of routes.
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
    /// For callers whom the rules permit the operation on some objects of at least one of the classes. It always
    /// requires an access token, since what the rules permit to anonymous visitors may change.
    /// - Parameters:
    ///   - what: the classes in words, for the list of routes.
    ///   - classNames: picks the classes in the current model.
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
    /// For callers whom the rules permit the operation on some objects of a class. The handler must apply the filter
    /// that it gets. The rules also decide whether a token is required.
    /// - Parameter values: the values of some properties, by name, in the objects that the request is about. The filter
    ///   only covers such objects.
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
    /// For callers whom the rules permit the operation on the object whose id is in the address.
    ///
    /// Callers who may perform it on no object of the class learn nothing about ids: 403 (401) comes before 404. An
    /// existing object that the caller may not even read counts as missing.
    /// - Parameter pool: loads the object. An object in the trash isn't found.
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

    /// Like ``object(_:of:by:from:)``, for an object of the class that the address names. It always requires an access
    /// token.
    /// - Parameters:
    ///   - what: the classes in words, for the list of routes.
    ///   - find: finds the class in the current model; throws a ``RequestFailure`` if the address names none.
    ///   - classNames: all classes that it can find.
    ///   - other: another operation that the subject must be permitted on some objects of the class.
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

/// Permission for some objects of a class: those that satisfy ``filter``, among those that the route is about.
public struct ObjectsGrant: Sendable {
    public let subject: Subject
    /// The rules that made the decision. ``filter`` refers to their classes.
    public let rules: Rules
    public let filter: Predicate
}

/// Permission for some objects of several classes: those that satisfy the filter of their class. Classes without a
/// filter aren't permitted.
public struct ClassesGrant: Sendable {
    public let subject: Subject
    /// The rules that made the decision. ``filters`` refer to their classes.
    public let rules: Rules
    public let filters: [String: Predicate]
}

extension ClassesGrant {
    /// Decides like ``RouteAccess/objects(_:ofAny:_:by:)``, for a request that didn't come through a route.
    /// - Throws: ``RequestFailure`` with status 401 or 403 if the rules permit the operation on no object of the
    ///   classes.
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
            // Each refusal names one class, but the caller asked about no particular one.
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

/// Permission for one object, with its row at the time of the decision.
public struct ObjectGrant: Sendable {
    public let subject: Subject
    /// The rules that made the decision. ``row`` belongs to one of their classes.
    public let rules: Rules
    public let className: String
    public let key: Value
    public let row: Row

    /// The key, if it's an ObjectId.
    public var id: ObjectId? { if case .objectId(let id) = key { id } else { nil } }
    /// The key as it is written in addresses.
    public var keyText: String { key.keyText }
}

private func need(
    _ operation: TomboloRules.Operation, _ className: String, _ rules: Rules
) -> TokenNeed {
    let isPermitted = (try? requireAny(.anonymous, operation, className, rules)) != nil
    return isPermitted ? .optional : .required
}

/// - Parameter values: the values of some properties, by name, in the objects that the filter is about.
/// - Throws: ``RequestFailure`` if the rules permit the operation on no object of the class.
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
/// - Throws: ``RequestFailure`` if the rules permit the operation on no object of the class.
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
    /// 401 if nobody is logged in, otherwise 403.
    public init(_ denial: Decision.Denial) {
        self.init(
            denial.needsLogin ? .unauthenticated : .forbidden, denial.wording,
            hint: denial.needsLogin ? Wording(untranslated: "Log in with POST /login.") : nil)
    }

    /// 404 for an id that no live object of the class has, or whose object the caller may not know of.
    public static func noSuchObject(_ className: String) -> RequestFailure {
        RequestFailure(
            .notFound, localized("There is no \(className) with this id."),
            hint: localized("It may be in the trash, or you may not see it."))
    }
}
