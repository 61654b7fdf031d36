import TomboloHTTP

/// Runs `body` with extended timeouts: this process's servers wait as long as a test may take for their databases, and for anything
/// they would otherwise answer without.
public func withPatience<R: Sendable>(_ body: @Sendable () async throws -> R) async throws -> R {
    try await Patience.$factor.withValue(300) { try await body() }
}
