package import PostgresClient
package import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization
package import TomboloModel
package import TomboloRules
package import TomboloServerModel

/// What the routes and pages of the audit log share.
package struct AuditLog: Sendable {
    private let pool: PostgresPool
    private let types = SchemaCache { ResourceTypes($0) }
    private let isSuperAdministrator: @Sendable (Subject) -> Bool

    /// - Parameter models: determine who is a super administrator; nil for nobody.
    package init(pool: PostgresPool, models: ServerModels? = nil) {
        self.pool = pool
        isSuperAdministrator = { models?.current.isSuperAdministrator($0) ?? false }
    }

    /// Access for callers who may see the log of some objects of at least one class.
    package static func access(by rules: LiveRules) -> RouteAccess<ClassesGrant> {
        .objects(.audit, ofAny: localized("objects"), classes, by: rules)
    }

    /// What a subject may see of the log if the question didn't come through a route; nil if nothing.
    package static func grant(_ subject: Subject, by rules: Rules) -> ClassesGrant? {
        try? ClassesGrant(subject, .audit, ofAny: localized("objects"), classes, by: rules)
    }

    private static func classes(_ schema: Schema) -> [String] {
        schema.classes.filter { $0.owner == nil && $0.primaryKeyIndex != nil }.map(\.name)
    }

    /// The class of a collection named in an address.
    /// - Throws: ``RequestFailure`` with status 404 if there is none.
    package static func item(_ schema: Schema, collection: String?) throws -> ClassSchema {
        let found = schema.classes.first {
            $0.owner == nil && $0.primaryKeyIndex != nil && $0.collectionName == collection
        }
        guard let found else { throw RequestFailure(.notFound, "There is no class at this address.") }
        return found
    }

    /// A page of entries, newest first: `{"items": […], "next": …, "upTo": …}`.
    /// - Parameters:
    ///   - parameters: names and values of ``AuditFilter``.
    ///   - object: restricts the page to one object; nil for every object that the parameters select.
    /// - Throws: ``RequestFailure`` for invalid parameters or classes that aren't permitted.
    package func page(
        _ parameters: [(name: String, value: String)], object: (className: String, key: String)? = nil,
        _ grant: ClassesGrant
    ) async throws -> JSON {
        var filter = try AuditFilter(parameters, without: object == nil ? [] : ["class", "object"])
        if let object { (filter.className, filter.key) = (object.className, object.key) }
        let wanted = filter
        let seesAll = isSuperAdministrator(grant.subject)
        return try await pool.transaction(isolation: .repeatableRead, readOnly: true) { connection in
            try await AuditQuery.page(AuditView.read(grant, seesAll: seesAll, connection), wanted, connection)
        }
    }

    /// Restores an object's earlier values; see ``AuditPutBack``.
    package func putBack(
        _ wish: AuditPutBack.Wish, className: String, key: String, _ grant: ClassesGrant
    ) async throws -> AuditPutBack.Result {
        let putBack = AuditPutBack(
            grant: grant, types: try types.value(for: grant.rules.schema), className: className, key: key)
        return try await pool.transaction { try await putBack.run(wish, $0) }
    }
}
