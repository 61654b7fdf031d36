internal import Tracing

/// The body of an OTLP export request in JSON: ids are in hexadecimal, and 64-bit numbers are strings.
/// https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/trace/v1/trace.proto
struct TraceExport: Encodable {
    struct Resource: Encodable { let attributes: [TraceAttribute] }
    struct Scope: Encodable { let name: String }
    struct ScopeSpans: Encodable { let scope: Scope, spans: [SpanRecord] }
    struct ResourceSpans: Encodable { let resource: Resource, scopeSpans: [ScopeSpans] }

    let resourceSpans: [ResourceSpans]

    init(service: String, spans: [SpanRecord]) {
        resourceSpans = [
            ResourceSpans(
                resource: Resource(
                    attributes: [TraceAttribute(key: "service.name", value: .init(stringValue: service))]),
                scopeSpans: [ScopeSpans(scope: Scope(name: "tombolo"), spans: spans)])
        ]
    }
}

struct TraceAttribute: Encodable, Sendable {
    struct Content: Encodable, Sendable {
        var stringValue: String?
        var intValue: String?
        var doubleValue: Double?
        var boolValue: Bool?
    }

    let key: String
    let value: Content
}

/// A span that has ended.
struct SpanRecord: Encodable, Sendable {
    struct Link: Encodable, Sendable { let traceId: String, spanId: String }
    struct Status: Encodable, Sendable { let code: Int, message: String? }

    let traceId: String
    let spanId: String
    let parentSpanId: String?
    let name: String
    let kind: Int
    let startTimeUnixNano: String
    let endTimeUnixNano: String
    let attributes: [TraceAttribute]
    let links: [Link]
    let status: Status?

    init(_ span: ExportedSpan, _ content: ExportedSpan.Content) {
        traceId = span.place.traceText
        spanId = span.place.spanText
        parentSpanId = span.parent.map { SpanPlace(trace: (0, 0), span: $0, isSampled: true).spanText }
        name = content.name
        kind =
            switch span.kind {
            case .internal: 1
            case .server: 2
            case .client: 3
            case .producer: 4
            case .consumer: 5
            }
        startTimeUnixNano = String(span.startNanoseconds)
        endTimeUnixNano = String(content.endNanoseconds ?? span.startNanoseconds)
        var attributes: [TraceAttribute] = []
        content.attributes.forEach { key, attribute in
            guard attributes.count < ExportedSpan.maximumPartCount else { return }
            attributes.append(TraceAttribute(key: key, value: .init(attribute)))
        }
        self.attributes = attributes
        links = content.links.map { Link(traceId: $0.traceText, spanId: $0.spanText) }
        status = content.status.map { status in
            switch status.code {
            case .ok: Status(code: 1, message: nil)
            case .error: Status(code: 2, message: status.message)
            }
        }
    }
}

extension TraceAttribute.Content {
    init(_ attribute: SpanAttribute) {
        switch attribute {
        case .int32(let value): intValue = String(value)
        case .int64(let value): intValue = String(value)
        case .double(let value): doubleValue = value
        case .bool(let value): boolValue = value
        case .string(let value): stringValue = value
        default: stringValue = "\(attribute)"
        }
    }
}
