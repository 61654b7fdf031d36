import Hummingbird
public import PostgresClient
public import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization
public import TomboloModel
public import TomboloRules

/// Reads and changes objects as the rules permit the caller, as [JSON:API](docs/json-api.md) does: without objects in
/// the trash, and without fields that the caller may not read. Classes have their names in the model; fields and
/// parameters have those of JSON:API.
extension PanelRequest {
    /// Objects of a class: the first 200, or the page selected by the parameters.
    /// - Parameter parameters: `filter[…]`, `sort`, `fields[…]` and `page[…]`, as in an address of JSON:API.
    /// - Throws: ``RequestFailure`` with status 403 if the caller may not read any, and 400 for a parameter that
    ///   JSON:API refuses, such as a filter on a field that they may not read.
    public func objects(of className: String, _ parameters: [String: String] = [:]) async throws -> [PanelResource] {
        let (view, type) = try readable(className)
        let parameters = ["page[size]": "\(ResourceQuery.maximumPageSize)"].merging(parameters) { $1 }
        let query = try ResourceQuery(RequestParameters(parameters), .list, of: type, for: view)
        return try await ResourceReader(view: view).page(type, query, core.pool).resources.map {
            try PanelResource($0)
        }
    }

    /// The rows of a class, as a SELECT for the `FROM` clause of a custom statement, for counts and sums.
    ///
    ///     let orders = try request.rows(of: "Order", ["quantity"], ["filter[ticket]": id])
    ///     let sum = try await panel.pool.query("SELECT sum(quantity) FROM (\(orders.sql)) AS orders", orders.parameters)
    ///
    /// - Parameters:
    ///   - fields: the columns, under these names: fields with one value, links, and `id`.
    ///   - parameters: `filter[…]`.
    /// - Throws: as ``objects(of:_:)``; 400 also for a field that the caller may not read.
    public func rows(
        of className: String, _ fields: [String], _ parameters: [String: String] = [:]
    ) throws -> PostgresStatement {
        let (view, type) = try readable(className)
        let query = try ResourceQuery(RequestParameters(parameters), .selection, of: type, for: view)
        return try ResourceReader(view: view).rows(of: type, fields, matching: query.filter)
    }

    /// Changes attributes of an object, if the rules permit the caller to. Only actions may call this.
    /// - Returns: the object after the change; nil if the caller can no longer see it.
    /// - Throws: ``RequestFailure``: 404 for an object that the caller can't see, 403 for one that they may not change,
    ///   and 422 for invalid values.
    @discardableResult
    public func update(
        _ className: String, id: String, _ attributes: [String: JSON]
    ) async throws -> PanelResource? {
        guard request.method != .get, request.method != .head else {
            throw RequestFailure(.internalError, "Pages may not change data.", hint: "Register an action for that.")
        }
        let (view, type) = try readable(className)
        guard let key = type.keyValue(id) else { throw RequestFailure.noSuchObject(ClassTitle.singular(of: type)) }
        let edit = EditPage(request: self, view: view, type: type)
        let (change, writer) = (try edit.checked(["attributes": .object(attributes)]), edit.writer)
        return try await core.pool.transaction { connection in
            try await writer.update(change, key: key, at: EditPage.pointer, connection)
        }.map { try PanelResource($0) }
    }

    /// Whether the rules permit the caller an operation on some objects of a class, to decide what a page offers.
    /// - Parameter values: property values that these objects have.
    public func may(
        _ operation: TomboloRules.Operation, _ className: String, having values: [String: Value] = [:]
    ) -> Bool {
        let rules = core.rules.current
        guard let index = rules.schema.index(of: className) else { return false }
        var known: [Int: Value] = [:]
        for (name, value) in values {
            guard let column = rules.schema[index].columnIndex(name) else { return false }
            known[column] = value
        }
        switch rules.authorize(subject, operation, .objects(classIndex: index, having: known)) {
        case .allowed(let filter): return filter != .constant(false)
        case .denied: return false
        }
    }

    private func readable(_ className: String) throws -> (CallerView, ResourceType) {
        let view = try core.view(of: subject)
        guard let type = view.schema.index(of: className).flatMap({ view.types[$0] }) else {
            throw RequestFailure(.internalError, "There is no class '\(className)'.")
        }
        if let denial = view.refusal(.read, type) { throw RequestFailure(denial) }
        return (view, type)
    }
}
