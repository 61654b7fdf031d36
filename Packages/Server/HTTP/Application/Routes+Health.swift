import HTTPTypes
public import PostgresClient
import TomboloLocalization

extension Routes {
    /// How long the database may take to answer before the server counts as not ready.
    public static let readinessTimeout = Duration.seconds(2)

    /// The paths that monitors and proxies poll.
    static let monitored: Set = [healthPath, readyPath, metricsPath]
    static let healthPath = "/health"
    static let readyPath = "/ready"
    static let metricsPath = "/metrics"

    /// `GET /health` says that the process answers. `GET /ready` says that its database does too, so that the server
    /// can take requests; it fails while the server is about to stop.
    public func addHealth(_ pool: PostgresPool, readiness: Readiness? = nil) {
        on(.get, Self.healthPath, access: .open(because: localized("says only that the process runs"))) { _, _, _ in
            JSONAnswer(["status": "ok"])
        }
        on(.get, Self.readyPath, access: .open(because: localized("says only whether the database answers"))) {
            _, _, _ in
            if readiness?.isDraining == true {
                throw RequestFailure(
                    .unavailable, "The server is about to end.", hint: RequestFailure.retryHint.localized)
            }
            do {
                try await withTimeout(Self.readinessTimeout.patient) { _ = try await pool.query("SELECT 1") }
            } catch {
                throw RequestFailure(
                    .unavailable, "The database does not answer.", hint: RequestFailure.retryHint.localized,
                    cause: error)
            }
            return JSONAnswer(["status": "ready"])
        }
    }
}
