internal import Synchronization

/// Remembers spans by key for a while: at most the newest ``maximumCount`` notes.
public final class TraceNotes<Key: Hashable & Sendable>: Sendable {
    private struct State {
        var lines: [Key: String] = [:]
        /// In order of arrival. Keys that were taken are still in it, and skipped.
        var order: [Key] = []
    }

    private let maximumCount: Int
    private let state = Mutex(State())

    public init(maximumCount: Int) { self.maximumCount = maximumCount }

    public var count: Int { state.withLock { $0.lines.count } }

    public func note(_ line: String, for key: Key) {
        state.withLock { state in
            if state.lines.updateValue(line, forKey: key) == nil { state.order.append(key) }
            guard state.order.count > maximumCount else { return }
            // Removes half of them at once, so that a note costs little on average.
            for old in state.order.prefix(maximumCount / 2) { state.lines[old] = nil }
            state.order.removeFirst(maximumCount / 2)
        }
    }

    public func line(for key: Key) -> String? { state.withLock { $0.lines.isEmpty ? nil : $0.lines[key] } }

    /// Returns a key's line and forgets it.
    public func take(_ key: Key) -> String? {
        state.withLock { $0.lines.isEmpty ? nil : $0.lines.removeValue(forKey: key) }
    }
}
