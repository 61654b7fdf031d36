import PostgresClient
import TomboloModel

/// Loads live objects by their keys: those that requests ask for at about the same time by one statement.
final class ObjectLoader: Sendable {
    /// Objects that one statement loads, and statements at once.
    static let bounds = BatchBounds(size: 64, concurrency: 2)

    private struct Wish: Sendable {
        let classIndex: Int
        let id: ObjectId
        let schema: Schema
    }

    private let batches: Batches<Wish, Row?, Never>

    init(_ pool: PostgresPool) {
        batches = Batches(Self.bounds) { wishes in
            var outcomes = [Result<Row?, any Error>](repeating: .success(nil), count: wishes.count)
            var places = Array(wishes.indices)
            // Almost always all are of one class of one model.
            while let first = places.first.map({ wishes[$0] }) {
                func isAlike(_ wish: Wish) -> Bool {
                    wish.classIndex == first.classIndex && wish.schema == first.schema
                }
                let item = first.schema[first.classIndex]
                let alike = places.filter { isAlike(wishes[$0]) }
                places.removeAll { isAlike(wishes[$0]) }
                guard let key = item.primaryKey, let keyIndex = item.primaryKeyIndex else { continue }
                let ids = Set(alike.map { wishes[$0].id })
                do {
                    let rows = try await RowReader(schema: first.schema, pool: pool).objects(
                        item.name, matching: .isIn(PropertyPath(key.name), ids.map(Value.objectId)))
                    let found = Dictionary(rows.map { ($0[keyIndex], $0) }, uniquingKeysWith: { first, _ in first })
                    for place in alike { outcomes[place] = .success(found[.objectId(wishes[place].id)]) }
                } catch {
                    for place in alike { outcomes[place] = .failure(error) }
                }
            }
            return outcomes
        }
    }

    /// The live object with this key; nil where there is none.
    func object(classIndex: Int, id: ObjectId, in schema: Schema) async throws -> Row? {
        try await batches.outcome(of: Wish(classIndex: classIndex, id: id, schema: schema))
    }
}
