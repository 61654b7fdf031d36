package import PostgresClient
package import TomboloHTTP
package import TomboloModel
import TomboloRules
import TomboloLocalization

/// A bulk request that has been checked: what the JSON route and the panel's pages have in common. docs/jobs.md
/// describes the body and the answers.
package struct BulkWork: Sendable {
    /// A search in addition to filters. Only the panel has it.
    package struct Search: Sendable {
        let text: String
        let predicate: Predicate

        package init(_ text: String, _ predicate: Predicate) {
            self.text = text
            self.predicate = predicate
        }
    }

    private let order: BulkOrder
    private let type: ResourceType
    private let view: CallerView
    private let arguments: JSON
    private let selection: BulkSelection
    private let worker: JobWorker

    /// Whether it only says what would happen.
    package var isDryRun: Bool { order.isDryRun }

    /// - Parameters:
    ///   - body: `{"action": …, "ids" or "all": …, "data" or "reason": …, "expect": …, "dryRun": …}`.
    ///   - parameters: filters, which only go with `all`.
    /// - Throws: ``RequestFailure`` for anything that isn't such a request, or that the rules permit on no resource.
    package init(
        _ body: JSON, matching parameters: RequestParameters, _ search: Search? = nil, of type: ResourceType,
        for view: CallerView, _ trash: BulkTrash
    ) throws {
        let query = try ResourceQuery(parameters, .selection, of: type, for: view)
        let order = try BulkOrder(body, of: type, for: view)
        if order.keys != nil, let parameter = parameters.all.first {
            throw parameter.failure("it can't be combined with 'ids'.", "Send \"all\": true, or leave the filters out.")
        }
        var filters = parameters.all.map { ($0.name, JSON.string($0.value)) }
        if let search { filters.append(("q", .string(search.text))) }
        var arguments: [String: JSON] = [
            "filter": .object(Dictionary(filters, uniquingKeysWith: { $1 })), "all": .bool(order.keys == nil),
        ]
        arguments["data"] = order.data
        arguments["reason"] = order.reason.map { .string($0.text) }
        self.order = order
        self.type = type
        self.view = view
        self.arguments = .object(arguments)
        selection = try BulkSelection(
            type, for: view, matching: .all([query.filter] + (search.map { [$0.predicate] } ?? [])),
            keys: order.keys, isInTrash: order.action.isAboutTrash)
        // A mistake in the data is one in every row.
        worker = try JobWorker(order.action.kind, self.arguments, of: type, for: view, trash)
    }

    /// Says what would happen, and changes nothing.
    package func dryRun(_ pool: PostgresPool) async throws -> JSON {
        let (size, keys) = try await pool.transaction(isolation: .repeatableRead, readOnly: true) { connection in
            (try await selection.size(connection), try await selection.keys(limit: BulkTrial.limit, connection))
        }
        return try await BulkTrial.run(worker, keys, pool).json(size)
    }

    /// Whether it restores objects that give roles, because they went into the trash together with the resources.
    package func restoresRoles(_ pool: PostgresPool) async throws -> Bool {
        guard order.action == .restore else { return false }
        return try await pool.withConnection { try await selection.givesRoles($0) }
    }

    /// Makes the job.
    /// - Returns: the job, in the form of answers.
    /// - Throws: ``RequestFailure`` with status 409 if the resources aren't the ones that the sender saw, or if there
    ///   are none.
    package func start(_ pool: PostgresPool) async throws -> JSON {
        guard let user = view.subject.userID else { throw RequestFailure.needsUser }
        return try await pool.transaction { connection in
            let id = try await JobStore.make(
                order.action.kind, type.item.name, by: user, state: .queued, arguments: arguments, connection)
            let size = try await selection.choose(for: id, connection)
            try order.check(size)
            guard size.count > 0 else {
                throw RequestFailure(.conflict, localized("Nothing matches."), hint: localized("Choose other filters."))
            }
            try await JobStore.set(total: size.count, of: id, connection)
            return try await JobStore.job(id, of: user, connection).json
        }
    }
}
