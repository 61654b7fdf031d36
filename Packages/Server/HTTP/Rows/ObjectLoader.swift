import Batching
import PostgresClient
import PostgresValues
import TomboloModel

/// Loads live objects by their keys. Requests at about the same time share one statement.
final class ObjectLoader: Sendable {
    /// The most objects that one statement loads, and the most statements at once.
    static let bounds = BatchBounds(size: 64, concurrency: 2)

    private struct Wish: Sendable {
        let classIndex: Int
        let key: Value
        let schema: Schema
    }

    private let batches: RequestBatcher<Wish, Row?>

    init(_ pool: PostgresPool) {
        let queries = SchemaCache { schema in
            schema.classes.map { item in Result { try Self.query(item) } }
        }
        batches = RequestBatcher(
            Self.bounds, overload: RequestFailure.tooManyWaiting, on: { EventLoopTaskExecutor.current }
        ) { wishes in
            var outcomes = [Result<Row?, any Error>](repeating: .success(nil), count: wishes.count)
            var places = Array(wishes.indices)
            // Almost always, all of them belong to one class of one model.
            while let first = places.first.map({ wishes[$0] }) {
                func isAlike(_ wish: Wish) -> Bool {
                    wish.classIndex == first.classIndex && wish.schema == first.schema
                }
                let alike = places.filter { isAlike(wishes[$0]) }
                places.removeAll { isAlike(wishes[$0]) }
                func load(_ keys: Set<Value>) async throws -> [Row] {
                    var query = try queries.value(for: first.schema)[first.classIndex].get()
                    query.statement.parameters = [
                        try PostgresParameter(list: keys.map(\.self), of: query.item.primaryKey?.type ?? .objectId)
                    ]
                    // The statement serves the whole batch, not only the request that began it.
                    return try await PostgresBorrower.$current.withValue(nil) { [query] in
                        try await PostgresResultLimit.$bytes.withValue(HTTPLimits.readByteCount) {
                            try await RowReader(schema: first.schema, pool: pool).objects(query)
                        }
                    }
                }
                do {
                    let keys = Set(alike.map { wishes[$0].key })
                    let query = try queries.value(for: first.schema)[first.classIndex].get()
                    let rows: [Row]
                    do {
                        rows = try await load(keys)
                    } catch let error as PostgresError where error.code == .resultTooLarge && keys.count > 1 {
                        // An object that is too large must not fail the others.
                        for place in alike {
                            do {
                                outcomes[place] = .success(try await load([wishes[place].key]).first)
                            } catch {
                                outcomes[place] = .failure(error)
                            }
                        }
                        continue
                    }
                    let key = query.item.primaryKeyIndex ?? 0
                    let found = Dictionary(rows.map { ($0[key], $0) }, uniquingKeysWith: { first, _ in first })
                    for place in alike { outcomes[place] = .success(found[wishes[place].key]) }
                } catch {
                    for place in alike { outcomes[place] = .failure(error) }
                }
            }
            return outcomes
        }
    }

    /// The query's one parameter is an array of keys.
    /// - Throws: ``ValueError`` for a class whose objects have no key.
    private static func query(_ item: ClassSchema) throws -> RowQuery {
        guard let key = item.primaryKey else { throw ValueError("The objects of \(item.name) have no key.") }
        let type =
            switch key.type {
            case .int: "bigint"
            case .string: "text"
            case .uuid: "uuid"
            default: "bytea"
            }
        // The subquery hides the number of keys. Otherwise PostgreSQL would plan the statement anew each time.
        let sql = """
            SELECT \(RowReader.columns(of: item, alias: "o")) FROM \(PostgresSQL.quoteIdentifier(item.table)) AS "o"
            WHERE \(PostgresSQL.quoteIdentifier("o", key.sqlName)) = ANY ((SELECT $1)::\(type)[])
                AND \(RowReader.isIn(trash: false, item, alias: "o"))
            """
        return RowQuery(statement: PostgresStatement(sql), item: item)
    }

    /// The live object with this key, or nil if there is none.
    func object(classIndex: Int, key: Value, in schema: Schema) async throws -> Row? {
        try await batches.answer(Wish(classIndex: classIndex, key: key, schema: schema))
    }
}
