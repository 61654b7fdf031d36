import Foundation

/// Runs blocking calls outside the cooperative thread pool.
enum Blocking {
    /// Runs `body` on a thread of its own.
    static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { done in
            Thread.detachNewThread { done.resume(with: Result { try body() }) }
        }
    }
}
