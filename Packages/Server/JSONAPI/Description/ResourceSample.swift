import Foundation
package import PostgresClient
package import TomboloHTTP
import TomboloModel
package import TomboloRules

/// An object as its reader sees it, for examples about it.
package struct ResourceSample: Sendable {
    package let id: String
    /// The version of everything that the reader sees.
    let version: String?
    private let json: JSON

    init(_ resource: ResourceReader.Resource) throws {
        var bytes = JSONBytes(capacity: 1_024)
        version = try resource.plan.append(resource.row, to: &bytes)
        json = try JSONDecoder().decode(JSON.self, from: Data(bytes.bytes))
        id = try resource.plan.key(resource.row).keyText
    }

    /// The value of an attribute; nil if the API leaves it out.
    func attribute(_ name: String) -> JSON? { json["attributes"]?[name] }

    /// The resource identifiers of a relationship; none if they are too many to be shown.
    package func linked(_ name: String) -> [JSON] {
        switch json["relationships"]?[name]?["data"] {
        case .array(let identifiers)?: identifiers
        case .object(let identifier)?: [.object(identifier)]
        default: []
        }
    }
}

extension ResourceReader {
    /// Any object that the caller may read and perform the operation on. For `create`, an object as the caller could
    /// make one.
    /// - Parameter operation: nil for reading alone.
    /// - Returns: nil if there is none.
    package func sample(
        of type: ResourceType, permitting operation: TomboloRules.Operation?, _ pool: PostgresPool
    ) async throws -> ResourceSample? {
        var conditions = [view.readable(type)]
        if let operation {
            let all = TomboloRules.Resource.objects(classIndex: type.classIndex)
            guard case .allowed(let filter) = view.rules.authorize(view.subject, operation, all) else { return nil }
            conditions.append(filter)
        }
        let plan = ResourcePlan(type, for: view)
        let statement = try statement(plan, matching: .constant(true), visible: .all(conditions), limit: 1)
        return try await pool.query(statement.sql, statement.parameters).first.map {
            try ResourceSample(Resource(plan: plan, row: $0))
        }
    }
}
