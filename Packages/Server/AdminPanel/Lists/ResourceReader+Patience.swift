import PostgresClient
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules

extension ResourceReader {
    /// How long a page waits for what it can do without: a rule or a search that few of many objects satisfy takes long.
    static let patience = Duration.seconds(2)

    /// As `count`, or nil if that takes longer than a page waits.
    func patientCount(
        _ type: ResourceType, matching filter: Predicate, limit: Int, _ pool: PostgresPool
    ) async throws -> Int? {
        try await Self.patiently { try await count(type, matching: filter, limit: limit, pool) }
    }

    /// As `counts`, or nil if that takes longer than a page waits.
    func patientCounts(
        _ type: ResourceType, of field: ResourceField, among values: [Value], matching filter: Predicate,
        _ pool: PostgresPool
    ) async throws -> ValueCounts? {
        try await Self.patiently { try await counts(type, of: field, among: values, matching: filter, pool) }
    }

    /// As `sample`, or nil if that takes longer than a page waits.
    func patientSample(
        of type: ResourceType, permitting operation: TomboloRules.Operation?, _ pool: PostgresPool
    ) async throws -> ResourceSample? {
        try await Self.patiently { try await sample(of: type, permitting: operation, pool) }
    }

    /// What `body` returns, or nil if that takes longer than a page waits.
    static func patiently<Found: Sendable>(
        _ body: @escaping @Sendable () async throws -> Found?
    ) async throws -> Found? {
        do {
            return try await withTimeout(patience.patient, body)
        } catch let failure as RequestFailure where failure.code == .timeout {
            return nil
        } catch is CancellationError where !Task.isCancelled {
            return nil
        }
    }
}
