internal import TomboloTracing
internal import Tracing

/// The span of a write transaction on this device, from which the trace goes on with the changeset's upload. It is known to
/// the process that wrote: after a restart changesets are uploaded without a trace.
package struct WriteTrace: Sendable {
    struct Key: Hashable, Sendable {
        let file: String
        let number: Int64
    }

    /// Changesets whose spans are remembered.
    static let maximumCount = 1_000
    /// By file and changeset. What is uploaded again after a lost connection belongs to the same trace.
    static let notes = TraceNotes<Key>(maximumCount: maximumCount)

    private let span: any Span

    /// - Returns: nil if the process has no tracer.
    package static func begin() -> WriteTrace? {
        TraceContext.isOn ? WriteTrace(span: InstrumentationSystem.tracer.startSpan("tombolo.write")) : nil
    }

    /// Names the changeset that was queued. Call before the commit: the changeset may be uploaded the moment it is there.
    package func note(file: String, number: Int64) {
        span.attributes["tombolo.changeset"] = number
        if let line = TraceContext.line(of: span) { Self.notes.note(line, for: Key(file: file, number: number)) }
    }

    /// Call after the commit.
    package func end() { span.end() }

    /// Ends the span of a transaction that wasn't committed; its number goes to another changeset.
    package func cancel(file: String, number: Int64?) {
        if let number { _ = Self.notes.take(Key(file: file, number: number)) }
        span.end()
    }
}
