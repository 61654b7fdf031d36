import PostgresClient
import PostgresValues
import TomboloHTTP
import TomboloModel
import TomboloSQL

extension ResourceWriter {
    /// Checks that links lead to objects that exist and aren't in the trash.
    /// - Returns: the links to objects that the caller may not read.
    nonisolated(nonsending) func checkLinks(
        _ links: [ResourceChange.Link], _ connection: PostgresConnection
    ) async throws -> [ResourceChange.Link] {
        var unseen: [ResourceChange.Link] = []
        for (classIndex, group) in Dictionary(grouping: links, by: \.target.classIndex) {
            guard let target = view.types[classIndex] else { continue }
            let alias = ResourcePlan.alias
            let key = PostgresSQL.quoteIdentifier(alias, target.key.sqlName)
            var builder = try SQLBuilder.resources(of: target, for: view, firstParameter: 2)
            let isSeen = try builder.condition(view.readable(target))
            let result = try await connection.query(
                """
                SELECT \(key), coalesce(\(isSeen), false) FROM \(PostgresSQL.quoteIdentifier(target.item.table)) AS "\(alias)"
                WHERE \(key) = ANY ($1) AND \(RowReader.isIn(trash: false, target.item, alias: alias))
                FOR KEY SHARE OF "\(alias)"
                """,
                [try PostgresParameter(list: Array(Set(group.map(\.key))), of: target.keyType)]
                    + builder.parameters.map { try PostgresParameter($0) })
            var found: [Value: Bool] = [:]
            for row in result { found[try row[0].value(of: target.keyType)] = try row[1].bool }
            if let missing = group.first(where: { found[$0.key] == nil }) { throw dangling(missing) }
            unseen += group.filter { found[$0.key] == false }
        }
        return unseen
    }

    func dangling(_ link: ResourceChange.Link) -> RequestFailure {
        RequestFailure(
            .unprocessable, Wording("There is no resource of type '\(link.target.name)' with this id."),
            hint: Wording("Send the id of one that exists, and isn't in the trash."),
            source: .pointer(link.pointer.description))
    }
}
