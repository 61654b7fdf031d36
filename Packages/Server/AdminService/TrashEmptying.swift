import PostgresClient
package import TomboloHTTP
package import TomboloModel
import TomboloRules
import TomboloLocalization

/// Empties the trash, a bounded number of groups per request. The response says where the next request continues.
package struct TrashEmptying: Sendable {
    /// The number of groups that one request examines.
    static let groupLimit = 100
    /// After this many objects, a request begins no further group.
    static let objectLimit = 5_000

    let trash: Trash
    /// By class, the objects that the caller may permanently delete and asks for.
    let filters: [String: Predicate]

    package init(trash: Trash, filters: [String: Predicate]) {
        self.trash = trash
        self.filters = filters
    }

    /// Deletes the groups whose objects are all included, each completely or not at all.
    /// - Returns: `{"count": …, "groups": …, "kept": [{"group": …, "reason": …}], "next": …}`.
    package func empty(after cursor: TrashQueue.Cursor?) async throws -> JSON {
        let parts = filters.sorted { $0.key < $1.key }.map { TrashQueue.Part(className: $0.key, filter: $0.value) }
        let queue = TrashQueue(schema: trash.schema)
        let entries = try await trash.pool.withConnection { connection in
            try await queue.entries(parts, after: cursor, limit: Self.groupLimit, connection)
        }
        var (count, groups) = (0, 0)
        var kept: [JSON] = []
        var last: TrashQueue.Entry?
        for entry in entries {
            guard count < Self.objectLimit else { break }
            last = entry
            do {
                let purged = try await trash.purge(
                    TrashAddress(entry.address), deciding: { [filters] in filters[$0]?.paths ?? [] }, check: check)
                count += purged.count
                groups += 1
            } catch let failure as RequestFailure where failure.code == .conflict {
                kept.append(["group": .string(entry.address), "reason": .string(failure.message)])
            } catch let failure as RequestFailure where failure.code == .notFound {
                // The group was restored or deleted meanwhile.
                continue
            }
        }
        let isDone = last == entries.last && entries.count < Self.groupLimit
        return [
            "count": .int(Int64(count)), "groups": .int(Int64(groups)), "kept": .array(kept),
            "next": isDone ? .null : last.map { .string($0.cursor.text) } ?? .null,
        ]
    }

    private func check(_ member: Trash.Member) throws {
        guard let item = trash.schema[member.className], let filter = filters[member.className],
            filter.matches(member.row, of: item)
        else {
            throw RequestFailure(
                .conflict,
                localized(
                    "\(member.className) \(member.key.keyText) of this group isn't included, or you may not delete it "
                        + "permanently."
                ))
        }
    }
}
