import TomboloHTTP

/// Runs something during which servers of this process wait for their databases, and for what they would answer without, for
/// as long as a test may take.
public func withPatience<R: Sendable>(_ body: @Sendable () async throws -> R) async throws -> R {
    try await Patience.$factor.withValue(300) { try await body() }
}
