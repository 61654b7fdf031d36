import CLibPQ
import Dispatch
import Foundation

/// Asks the server to cancel the statement that a connection is running. For that, libpq opens a separate connection
/// and blocks until it's done, so the request occupies a thread. A connection has at most one such request in flight.
///
/// Unchecked because the compiler can't see into C: a `PGcancel` is read-only (PostgreSQL manual, section 34.7) and
/// freed once, with the last reference.
final class PostgresCanceller: @unchecked Sendable {
    static let queue = DispatchQueue(label: "postgres-cancelling", attributes: .concurrent)
    /// The buffer size that libpq recommends for its error text, in bytes.
    private static let textByteCount = 256
    private let raw: OpaquePointer

    init?(_ handle: OpaquePointer) {
        guard let raw = PQgetCancel(handle) else { return nil }
        self.raw = raw
    }

    deinit { PQfreeCancel(raw) }

    /// Returns once the server has received the request.
    /// - Returns: the error text, or nil on success.
    nonisolated(nonsending) func cancel() async -> String? {
        await withCheckedContinuation { continuation in
            Self.queue.async { continuation.resume(returning: self.send()) }
        }
    }

    private func send() -> String? {
        var text = [CChar](repeating: 0, count: Self.textByteCount)
        guard PQcancel(raw, &text, Int32(text.count)) == 0 else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).trimmedLines
    }
}
