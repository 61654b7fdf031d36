import PostgresClient
import TomboloHTTP
import TomboloModel
import TomboloPostgresStore

extension ResourceWriter {
    /// Runs statements, and adds to the database's refusals which field they are about.
    /// - Parameter unseen: the links to objects that the caller may not read.
    nonisolated(nonsending) func explained(
        _ change: ResourceChange, _ unseen: [ResourceChange.Link], at pointer: RequestPointer,
        _ body: nonisolated(nonsending) () async throws -> Void
    ) async throws {
        do {
            try await body()
        } catch let error as PostgresError where error.isRefusal {
            let failure = refusal(error, change, at: pointer)
            // A constraint's message about an object that the caller may not read would reveal that it exists.
            let places = Array(change.pointers.values) + change.listPointers.values
            let place = places.first { failure.source == .pointer($0.description) }
            if error.raisedSentence != nil, let place, let link = unseen.first(where: { $0.pointer.isWithin(place) }) {
                throw dangling(link)
            }
            throw failure
        }
    }

    private func refusal(_ error: PostgresError, _ change: ResourceChange, at pointer: RequestPointer) -> RequestFailure
    {
        let item = change.type.item
        var failure = RequestFailure(error)
        var columns: [Int] = []
        switch error.code {
        case .uniqueViolation:
            if error.constraintName?.hasSuffix("_pkey") == true {
                failure.wording = Wording("There is already a resource with this id.")
                failure.hintWording = Wording("Leave 'id' out, and the server generates one.")
                failure.source = .pointer((pointer / "id").description)
                failure.properties = []
                return failure
            }
            // If row-level security applies, the database names the constraint but not its columns.
            columns =
                item.uniqueColumns.first { item.uniqueIndexName($0) == error.constraintName }
                // For a constraint that somebody else has made.
                ?? item.uniqueColumns.first { columns in
                    let names = columns.map { item.columns[$0].sqlName }.joined(separator: "_")
                    return error.constraintName?.contains(names) == true
                } ?? []
            let names = columns.map { item.columns[$0].name }
            let type = change.type.name
            failure.wording =
                names.isEmpty
                ? Wording("Another of the \(type) has the same value, which must be unique.")
                : Wording("Another of the \(type) has the same \(names.wordingByAnd).")
            failure.hintWording = Wording("Send another value, or change the other one first.")
            failure.properties = names
        case .notNullViolation:
            columns = item.columns.indices.filter { item.columns[$0].sqlName == error.columnName }
            failure.wording = Wording("A required value is missing.")
            failure.hintWording = Wording("Give it a value.")
        case .foreignKeyViolation:
            columns = item.columns.indices.filter {
                item.columns[$0].linkTarget != nil && item.foreignKeyName($0) == error.constraintName
            }
            failure.wording = Wording("A link points to a resource that was just removed.")
            failure.hintWording = Wording("Send the id of one that exists.")
        default:
            columns = item.columns.indices.filter { item.columns[$0].sqlName == error.columnName }
            if error.raisedSentence == nil {
                failure.wording =
                    error.constraintName.map { Wording("The database doesn't accept the values: \($0).") }
                    ?? Wording("The database doesn't accept the values: they're out of range.")
                failure.hintWording = Wording("Send other values.")
            }
        }
        let place = columns.lazy.compactMap { change.pointers[$0] }.first ?? list(of: error, change) ?? pointer
        failure.source = .pointer(place.description)
        return failure
    }

    /// The place of the list of links with the element that the database refused.
    private func list(of error: PostgresError, _ change: ResourceChange) -> RequestPointer? {
        change.listPointers.first { elements, _ in view.schema[elements].table == error.tableName }?.value
    }
}
