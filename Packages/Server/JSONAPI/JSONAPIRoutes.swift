import Foundation
import HTTPTypes
import Hummingbird
public import PostgresClient
public import TomboloHTTP
public import TomboloModel
public import TomboloRules
import TomboloLocalization

/// JSON:API 1.1 (jsonapi.org) for every class of the current model: docs/json-api.md. Only the rules decide what
/// somebody may see and change.
public struct JSONAPIRoutes: Sendable {
    /// The path of the API.
    public static let path = "/api"
    static let resource = "\(path)/{collection}/{id}"

    /// Moves a live object, with everything that goes with it, into the trash in the connection's transaction.
    public typealias TrashMove =
        @Sendable (
            _ connection: PostgresConnection, _ schema: Schema, _ className: String, _ key: Value, _ user: ObjectId?,
            _ reason: TrashReason?
        ) async throws -> Void

    let rules: LiveRules
    let pool: PostgresPool
    let types = SchemaCache { ResourceTypes($0) }
    let moveToTrash: TrashMove
    let exportPlaces = ExportPlaces()
    /// The cache of lists' pages and totals, shared by everything on this server that shows such numbers.
    package let answers: ListAnswers

    /// - Parameter moveToTrash: what DELETE does with an object of a class that has a trash.
    public init(rules: LiveRules, pool: PostgresPool, moveToTrash: @escaping TrashMove) {
        self.rules = rules
        self.pool = pool
        answers = ListAnswers(pool)
        self.moveToTrash = moveToTrash
    }

    public func add(to routes: Routes) {
        routes.reportFailures(below: Self.path, as: JSONAPIFailure.format)
        addDescription(to: routes)
        addReading(to: routes)
        addWriting(to: routes)
        addOperations(to: routes)
        addExport(to: routes)
    }

    // MARK: Who asks, and for what

    /// For callers whom the rules permit one of the operations on objects of the class in the address.
    func access(
        _ summary: @autoclosure @escaping @Sendable () -> String,
        _ operations: @escaping @Sendable (ClassSchema) -> [TomboloRules.Operation]
    ) -> RouteAccess<ClassGrant> {
        .someObjects(summary(), ofAny: localized("objects of a class"), operations, by: rules) {
            [types] schema, context in
            try types.value(for: schema).type(inAddress: context).classIndex
        }
    }

    func view(_ grant: ClassGrant) throws -> (view: CallerView, type: ResourceType) {
        let types = try types.value(for: grant.rules.schema)
        guard let type = types[grant.classIndex] else {
            throw RequestFailure(.internalError, "There is no class at this address.")
        }
        return (CallerView(subject: grant.subject, rules: grant.rules, types: types), type)
    }

    /// The key in the address.
    /// - Throws: ``RequestFailure`` with status 404 if no resource can have such an id.
    func key(_ context: EdgeContext, of type: ResourceType) throws -> Value {
        guard let text = context.parameters.get("id")?.removingPercentEncoding, let key = type.keyValue(text) else {
            throw RequestFailure(
                .notFound, Wording("There is no resource of type '\(type.name)' with this id."),
                hint: Wording("The id must be \(ValueText.expected(type.keyType))."))
        }
        return key
    }

    static func noSuchResource(_ type: ResourceType) -> RequestFailure {
        RequestFailure(
            .notFound, Wording("There is no resource of type '\(type.name)' with this id."),
            hint: Wording("It may be in the trash, or you aren't permitted to see it."))
    }

    /// The relationship in the address.
    func relationship(
        _ context: EdgeContext, of type: ResourceType, _ view: CallerView
    ) throws -> (field: ResourceField, target: ResourceType) {
        let name = context.parameters.get("relationship")?.removingPercentEncoding ?? ""
        let known = view.fields(of: type).filter(\.isRelationship)
        guard let field = known.first(where: { $0.name == name }), let target = field.target.flatMap({ view.types[$0] })
        else {
            throw RequestFailure(
                .notFound, "\(type.name) have no relationship '\(name.shortened(toByteCount: 60))'.",
                hint: ResourceQuery.nearest(name, known.map(\.name)).localized)
        }
        return (field, target)
    }
}
