internal import TomboloTracing
internal import Tracing

/// The span of a write transaction on this device. The upload of its changeset continues the trace. Only the process
/// that wrote knows the span: after a restart, changesets are uploaded without a trace.
package struct WriteTrace: Sendable {
    struct Key: Hashable, Sendable {
        let file: String
        let number: Int64
    }

    /// How many changesets' spans are remembered.
    static let maximumCount = 1_000
    /// By file and changeset. A changeset uploaded again after a lost connection belongs to the same trace.
    static let notes = TraceNotes<Key>(maximumCount: maximumCount)

    private let span: any Span

    /// - Returns: nil if the process has no tracer.
    package static func begin() -> WriteTrace? {
        TraceContext.isOn ? WriteTrace(span: InstrumentationSystem.tracer.startSpan("tombolo.write")) : nil
    }

    /// Names the changeset that was queued. Call this before the commit, because the changeset may be uploaded as soon
    /// as it's committed.
    package func note(file: String, number: Int64) {
        span.attributes["tombolo.changeset"] = number
        if let line = TraceContext.line(of: span) { Self.notes.note(line, for: Key(file: file, number: number)) }
    }

    /// Call this after the commit.
    package func end() { span.end() }

    /// Ends the span of a transaction that wasn't committed. Its number will be used for another changeset.
    package func cancel(file: String, number: Int64?) {
        if let number { _ = Self.notes.take(Key(file: file, number: number)) }
        span.end()
    }
}
