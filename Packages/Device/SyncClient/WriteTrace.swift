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

    /// Call after the commit.
    /// - Parameter number: of the changeset that was queued; nil if none was.
    package func end(file: String, number: Int64?) {
        if let number {
            span.attributes["tombolo.changeset"] = number
            if let line = TraceContext.line(of: span) { Self.notes.note(line, for: Key(file: file, number: number)) }
        }
        span.end()
    }
}
