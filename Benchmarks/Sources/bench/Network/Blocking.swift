import Foundation

/// Calls that block, away from the threads that tasks share.
enum Blocking {
    /// Runs `body` on a thread of its own.
    static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { done in
            Thread.detachNewThread { done.resume(with: Result { try body() }) }
        }
    }
}
