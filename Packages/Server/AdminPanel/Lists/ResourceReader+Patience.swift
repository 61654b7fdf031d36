import PostgresClient
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel

extension ResourceReader {
    /// How long a page waits for a number: a rule or a search that few of many objects satisfy takes long to count.
    static let countPatience = Duration.seconds(2)

    /// As `count`, or nil if that takes longer than a page waits.
    func patientCount(
        _ type: ResourceType, matching filter: Predicate, limit: Int, _ pool: PostgresPool
    ) async throws -> Int? {
        do {
            return try await withTimeout(Self.countPatience) {
                try await count(type, matching: filter, limit: limit, pool)
            }
        } catch let failure as RequestFailure where failure.code == .timeout {
            return nil
        } catch is CancellationError where !Task.isCancelled {
            return nil
        }
    }
}
