import Foundation
import Synchronization
import TestSupport
import Testing

/// One trace from a write on one device to the file of another, through processes that report to a collector.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct TracingTests {
    private struct Span: Decodable, Sendable {
        let traceId: String
        let spanId: String
        let parentSpanId: String?
        let name: String
        let startTimeUnixNano: String
        let endTimeUnixNano: String
    }

    private struct Export: Decodable {
        struct Scope: Decodable { let spans: [Span] }
        struct Attribute: Decodable {
            struct Content: Decodable { let stringValue: String? }
            let key: String
            let value: Content
        }
        struct Resource: Decodable { let attributes: [Attribute] }
        struct ResourceSpans: Decodable { let resource: Resource, scopeSpans: [Scope] }
        let resourceSpans: [ResourceSpans]
    }

    /// The spans of the whole way, each with its service and its parent's name.
    private static let wanted: [(service: String, name: String, parent: String?)] = [
        ("writer", "tombolo.write", nil), ("writer", "tombolo.upload", "tombolo.write"),
        ("sync-gateway", "tombolo.receive", "tombolo.upload"), ("sync-gateway", "tombolo.commit", "tombolo.receive"),
        ("sync-gateway", "tombolo.tick", "tombolo.receive"), ("sync-gateway", "tombolo.match", "tombolo.tick"),
        ("sync-gateway", "tombolo.send", "tombolo.match"), ("reader", "tombolo.apply", "tombolo.match"),
    ]

    /// The name of each span's parent, by the span's ID; absent if the trace doesn't contain the parent.
    private static func parents(_ trace: [(service: String, span: Span)]) -> [String: String] {
        // A program that got no answer in time may have reported a span twice.
        let names = Dictionary(trace.map { ($0.span.spanId, $0.span.name) }) { first, _ in first }
        let known = trace.compactMap { _, span in
            span.parentSpanId.flatMap { names[$0] }.map { (span.spanId, $0) }
        }
        return Dictionary(known) { first, _ in first }
    }

    /// Whether a trace covers the whole way. After a lost connection it contains some parts twice, and some spans whose
    /// parents weren't reported yet.
    private static func isComplete(_ trace: [(service: String, span: Span)]) -> Bool {
        let parents = parents(trace)
        return wanted.allSatisfy { item in
            trace.contains {
                $0.service == item.service && $0.span.name == item.name && parents[$0.span.spanId] == item.parent
            }
        }
    }

    /// Every span that the collector has received, with its service.
    private static func spans(_ collector: OutsideServer) throws -> [(service: String, span: Span)] {
        try collector.requests.flatMap { request -> [(service: String, span: Span)] in
            #expect(request.method == "POST" && request.path == "/v1/traces")
            let export = try JSONDecoder().decode(Export.self, from: Data(request.body.utf8))
            return export.resourceSpans.flatMap { resource in
                let service = resource.resource.attributes.first { $0.key == "service.name" }?.value.stringValue ?? ""
                return resource.scopeSpans.flatMap(\.spans).map { (service, $0) }
            }
        }
    }

    @Test("a write on one device, its upload, commit, tick and batch, and its arrival on another form one trace")
    func oneTrace() async throws {
        try await OutsideServer.with { _ in
            .json("{}")
        } _: { collector, address in
            try await Platform.with { platform in
                let gateway = platform.gateways[0]
                try await gateway.kill9()
                await gateway.set("OTEL_EXPORTER_OTLP_ENDPOINT", to: address)
                try await gateway.start()
                let writer = try await platform.device(
                    "writer", of: "organizer",
                    tracing: ["OTEL_EXPORTER_OTLP_ENDPOINT": address, "OTEL_SERVICE_NAME": "writer"])
                let reader = try await platform.device(
                    "reader", of: "attendee",
                    tracing: ["OTEL_EXPORTER_OTLP_ENDPOINT": address, "OTEL_SERVICE_NAME": "reader"])
                for device in [writer, reader] { try await device.ask("subscribe", "Listing") }
                var complete: [(service: String, span: Span)] = []
                // Only live batches carry the trace contexts of their writes. On a busy machine the reader may have
                // fallen behind and catch up without them, so the writer writes again.
                for number in 1...9 where complete.isEmpty {
                    try await writer.ask(
                        "create", "Listing", "64ab0000000000000000000\(number)", "location=s:dallas", "price=i:1")
                    try await writer.ask("upload")
                    let deadline = ContinuousClock.now + .seconds(20)
                    while complete.isEmpty, ContinuousClock.now < deadline {
                        let traces = Dictionary(grouping: try Self.spans(collector), by: \.span.traceId)
                        complete = traces.values.first(where: Self.isComplete) ?? []
                        if complete.isEmpty { try await Task.sleep(for: .milliseconds(100)) }
                    }
                }
                let names = try Self.spans(collector).map {
                    "\($0.service) \($0.span.name) \($0.span.traceId) \($0.span.spanId) \($0.span.parentSpanId ?? "")"
                }
                try #require(!complete.isEmpty, "no trace is complete: \(names.joined(separator: "; "))")

                // Every span but the first has its parent in the trace and ends no earlier than it began.
                let parents = Self.parents(complete)
                for (_, span) in complete {
                    if let parent = parents[span.spanId] {
                        let rightful = Self.wanted.filter { $0.name == span.name }.map(\.parent)
                        #expect(rightful.isEmpty || rightful.contains(parent), "\(span)")
                    }
                    let (start, end) = (UInt64(span.startTimeUnixNano), UInt64(span.endTimeUnixNano))
                    #expect(try #require(start) <= #require(end), "\(span)")
                }
                try await writer.kill9()
                try await reader.kill9()
            }
        }
    }
}
