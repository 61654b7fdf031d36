public import Tracing

/// How a trace travels in messages: as the one line of W3C's `traceparent`, which names a trace and a span of it.
/// https://www.w3.org/TR/trace-context/#traceparent-header
///
/// The tracer that the process was started with writes and reads the line; without one nothing is written, and nothing that is
/// read has an effect.
public enum TraceContext {
    /// A longer line is ignored, in bytes. Version 00 has 55.
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

    /// The line for a span; nil if there is no tracer, or the tracer doesn't record the trace.
    public static func line(of span: any Span) -> String? {
        guard span.isRecording else { return nil }
        var carrier = Carrier()
        InstrumentationSystem.instrument.inject(span.context, into: &carrier, using: Access())
        return carrier.line.flatMap { isUsable($0) ? $0 : nil }
    }

    /// The context that a line stands for; one without a trace for a line that can't be read.
    public static func context(of line: String) -> ServiceContext {
        var context = ServiceContext.topLevel
        guard isUsable(line) else { return context }
        InstrumentationSystem.instrument.extract(Carrier(line: line), into: &context, using: Access())
        return context
    }

    /// Whether a line may be a `traceparent`: anybody may have written it.
    public static func isUsable(_ line: String) -> Bool {
        line.utf8.count <= maximumByteCount && !line.isEmpty
            && line.utf8.allSatisfy { (0x21...0x7e).contains($0) }
    }

    /// Starts a span as the child of one that another process told of.
    public static func span(_ name: String, after line: String, ofKind kind: SpanKind = .internal) -> any Span {
        InstrumentationSystem.tracer.startSpan(name, context: context(of: line), ofKind: kind)
    }

    /// Starts a span that began at a moment of the past, in nanoseconds since 1970.
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
