import PostgresClient
import PostgresValues
import TomboloHTTP
import TomboloModel
import TomboloRules
import TomboloSQL
import TomboloLocalization

/// The resources that a bulk request is about: chosen ones, or all that match a filter, as far as the caller can see
/// them.
struct BulkSelection: Sendable {
    /// The most ids in one request.
    static let idLimit = 1_000

    /// The size of a selection at one moment.
    struct Size: Hashable, Sendable {
        let count: Int64
        /// Another set of resources has another version.
        let version: String
    }

    let type: ResourceType
    let view: CallerView
    let isInTrash: Bool
    private let visible: Predicate
    private let asked: Predicate

    /// - Parameters:
    ///   - keys: nil for all that match.
    /// - Throws: ``RequestFailure`` if the caller may not list the trash.
    init(
        _ type: ResourceType, for view: CallerView, matching filter: Predicate, keys: [Value]?, isInTrash: Bool
    ) throws {
        self.type = type
        self.view = view
        self.isInTrash = isInTrash
        if isInTrash {
            do throws(Decision.Denial) {
                visible = try view.rules.authorize(
                    view.subject, .listTrash, .objects(classIndex: type.classIndex)
                ).get()
            } catch {
                throw RequestFailure(error)
            }
        } else {
            visible = view.readable(type)
        }
        let chosen = keys.map { Predicate.isIn(PropertyPath(type.key.name), $0) } ?? .constant(true)
        asked = .all([filter, chosen])
    }

    /// The key's text, as in `id`.
    private var keyText: String {
        let name = PostgresSQL.quoteIdentifier(ResourcePlan.alias, type.key.sqlName)
        return switch type.keyType {
        case .objectId: "encode(\(name), 'hex')"
        case .string: name
        default: "\(name)::text"
        }
    }

    private static let size = "count(*), coalesce(sum(hashtextextended(s.key, 0)::numeric), 0)::text"

    func condition(firstParameter: Int) throws -> (sql: String, parameters: [PostgresParameter]) {
        var builder = try SQLBuilder.resources(of: type, for: view, firstParameter: firstParameter)
        let condition = try builder.condition(visible: visible, asked: asked, seesTrash: isInTrash)
        let sql = """
            FROM \(PostgresSQL.quoteIdentifier(type.item.table)) AS "\(ResourcePlan.alias)"
            WHERE \(condition) AND \(RowReader.isIn(trash: isInTrash, type.item, alias: ResourcePlan.alias))
            """
        return (sql, try builder.parameters.map { try PostgresParameter($0) })
    }

    func size(_ connection: PostgresConnection) async throws -> Size {
        let (sql, parameters) = try condition(firstParameter: 1)
        let found = try await connection.query(
            "SELECT \(Self.size) FROM (SELECT \(keyText) COLLATE \"C\" AS key \(sql)) AS s", parameters)
        return Size(count: try found[0, 0].int64, version: try found[0, 1].string)
    }

    /// The first keys, in order.
    func keys(limit: Int, _ connection: PostgresConnection) async throws -> [String] {
        let (sql, parameters) = try condition(firstParameter: 1)
        let key = PostgresSQL.quoteIdentifier(ResourcePlan.alias, type.key.sqlName)
        return try await connection.query("SELECT \(keyText) \(sql) ORDER BY \(key) LIMIT \(limit)", parameters)
            .map { try $0[0].string }
    }

    /// Makes the rows of a job.
    /// - Throws: ``RequestFailure`` if there are too many.
    func choose(for job: Int64, _ connection: PostgresConnection) async throws -> Size {
        let (sql, parameters) = try condition(firstParameter: 2)
        let key = PostgresSQL.quoteIdentifier(ResourcePlan.alias, type.key.sqlName)
        let found = try await connection.query(
            """
            WITH s AS (INSERT INTO tombolo.job_row (job, number, key)
                SELECT $1, row_number() OVER (ORDER BY \(key)), \(keyText) \(sql) LIMIT \(Job.rowLimit + 1)
                RETURNING key)
            SELECT \(Self.size) FROM s
            """, [.int64(job)] + parameters)
        let size = Size(count: try found[0, 0].int64, version: try found[0, 1].string)
        guard size.count <= Job.rowLimit else {
            throw RequestFailure(
                .unprocessable,
                localized("More than \(Job.rowLimit) resources match, which is the most that a job can have."),
                hint: localized("Narrow the selection with filters, and do it in parts."))
        }
        return size
    }
}
