internal import Tracing

/// A span's context: its trace, its own id, and whether it is recorded.
struct SpanPlace: Hashable, Sendable {
    let trace: (UInt64, UInt64)
    let span: UInt64
    let isSampled: Bool

    static func == (left: SpanPlace, right: SpanPlace) -> Bool {
        left.trace == right.trace && left.span == right.span && left.isSampled == right.isSampled
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(trace.0)
        hasher.combine(trace.1)
        hasher.combine(span)
    }

    var traceText: String { trace.0.hexadecimal + trace.1.hexadecimal }
    var spanText: String { span.hexadecimal }

    /// `00-<32 digits>-<16 digits>-<2 digits>`: the version, the trace, the span, and flags, whose lowest bit says
    /// that the span is recorded.
    var line: String { "00-\(traceText)-\(spanText)-\(isSampled ? "01" : "00")" }

    init(trace: (UInt64, UInt64), span: UInt64, isSampled: Bool) {
        self.trace = trace
        self.span = span
        self.isSampled = isSampled
    }

    /// Parses a `traceparent` header. Accepts version 00, and the first four parts of later versions. Nil for
    /// anything else.
    init?(line: String) {
        let parts = line.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 4, parts[0].count == 2, parts[0] != "ff", parts[1].count == 32, parts[2].count == 16,
            parts[3].count == 2, parts[0] != "00" || parts.count == 4,
            parts[0...3].joined().utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) }),
            let high = UInt64(parts[1].prefix(16), radix: 16), let low = UInt64(parts[1].suffix(16), radix: 16),
            let span = UInt64(parts[2], radix: 16), let flags = UInt8(parts[3], radix: 16), high != 0 || low != 0,
            span != 0
        else { return nil }
        self.init(trace: (high, low), span: span, isSampled: flags & 1 == 1)
    }
}

enum SpanPlaceKey: ServiceContextKey {
    typealias Value = SpanPlace
}

extension ServiceContext {
    var spanPlace: SpanPlace? {
        get { self[SpanPlaceKey.self] }
        set { self[SpanPlaceKey.self] = newValue }
    }
}

extension UInt64 {
    fileprivate var hexadecimal: String {
        let text = String(self, radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }
}
