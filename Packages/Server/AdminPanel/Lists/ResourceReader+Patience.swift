import PostgresClient
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules

extension ResourceReader {
    /// How long a page waits for optional data. A rule or a search that only few of many objects satisfy can take long.
    static let patience = Duration.seconds(2)

    /// Like `count`, but nil if it takes longer than a page waits.
    func patientCount(
        _ type: ResourceType, matching filter: Predicate, limit: Int, _ pool: PostgresPool
    ) async throws -> Int? {
        try await Self.patiently { try await count(type, matching: filter, limit: limit, pool) }
    }

    /// Like `counts`, but nil if it takes longer than a page waits.
    func patientCounts(
        _ type: ResourceType, of field: ResourceField, among values: [Value], matching filter: Predicate,
        _ pool: PostgresPool
    ) async throws -> ValueCounts? {
        try await Self.patiently { try await counts(type, of: field, among: values, matching: filter, pool) }
    }

    /// Like `sample`, but nil if it takes longer than a page waits.
    func patientSample(
        of type: ResourceType, permitting operation: TomboloRules.Operation?, _ pool: PostgresPool
    ) async throws -> ResourceSample? {
        try await Self.patiently { try await sample(of: type, permitting: operation, pool) }
    }

    /// The result of `body`, or nil if it takes longer than a page waits.
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
