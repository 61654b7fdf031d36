public import Tracing

/// How messages carry a trace: as a single line, W3C's `traceparent`, which names a trace and one of its spans.
/// https://www.w3.org/TR/trace-context/#traceparent-header
///
/// The process's tracer writes and reads the line. Without a tracer, nothing is written, and lines that arrive have
/// no effect.
public enum TraceContext {
    /// Longer lines, in bytes, are ignored. Version 00 has 55.
    public static let maximumByteCount = 128

    private struct Carrier: Sendable {
        var line: String?
    }

    private struct Access: Injector, Extractor {
        func inject(_ value: String, forKey key: String, into carrier: inout Carrier) {
            if key.lowercased() == "traceparent" { carrier.line = value }
        }

        func extract(key: String, from carrier: Carrier) -> String? {
            key.lowercased() == "traceparent" ? carrier.line : nil
        }
    }

    /// Whether the process has a tracer.
    public static var isOn: Bool { !(InstrumentationSystem.tracer is NoOpTracer) }

    /// The line for a span, or nil if there is no tracer, or if the tracer doesn't record the trace.
    public static func line(of span: any Span) -> String? {
        guard span.isRecording else { return nil }
        var carrier = Carrier()
        InstrumentationSystem.instrument.inject(span.context, into: &carrier, using: Access())
        return carrier.line.flatMap { isUsable($0) ? $0 : nil }
    }

    /// The context that a line describes. It has no trace if the line can't be read.
    public static func context(of line: String) -> ServiceContext {
        var context = ServiceContext.topLevel
        guard isUsable(line) else { return context }
        InstrumentationSystem.instrument.extract(Carrier(line: line), into: &context, using: Access())
        return context
    }

    /// Whether a line could be a `traceparent`. Lines are untrusted.
    public static func isUsable(_ line: String) -> Bool {
        line.utf8.count <= maximumByteCount && !line.isEmpty
            && line.utf8.allSatisfy { (0x21...0x7e).contains($0) }
    }

    /// Starts a span as the child of a span in another process.
    public static func span(_ name: String, after line: String, ofKind kind: SpanKind = .internal) -> any Span {
        InstrumentationSystem.tracer.startSpan(name, context: context(of: line), ofKind: kind)
    }

    /// Starts a span with a start time in the past, in nanoseconds since 1970.
    public static func span(
        _ name: String, after line: String, ofKind kind: SpanKind = .internal, since nanoseconds: UInt64
    ) -> any Span {
        InstrumentationSystem.tracer.startSpan(
            name, context: context(of: line), ofKind: kind, at: Moment(nanosecondsSinceEpoch: nanoseconds))
    }

    private struct Moment: TracerInstant {
        let nanosecondsSinceEpoch: UInt64

        static func < (left: Moment, right: Moment) -> Bool { left.nanosecondsSinceEpoch < right.nanosecondsSinceEpoch }
    }
}
