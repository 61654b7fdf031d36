import Foundation
import Logging
import Testing
import TomboloTracing
import Tracing

@testable import TomboloTraceExport

@Suite struct TraceExportTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let span = "00f067aa0ba902b7"

    @Test("a traceparent is parsed as W3C specifies, and written as it was read")
    func reads() throws {
        for flags in ["00", "01"] {
            let line = "00-\(Self.trace)-\(Self.span)-\(flags)"
            let place = try #require(SpanPlace(line: line))
            #expect(place.isSampled == (flags == "01"))
            #expect(place.traceText == Self.trace && place.spanText == Self.span && place.line == line)
        }
        // A later version may have more parts. Other flags have no meaning yet.
        #expect(SpanPlace(line: "01-\(Self.trace)-\(Self.span)-03-more")?.isSampled == true)
    }

    @Test(
        "anything that isn't a traceparent is ignored",
        arguments: [
            "", "00", "00-x-y-z", "00-\(trace)-\(span)", "00-\(trace)-\(span)-01-more", "ff-\(trace)-\(span)-01",
            "00-\(String(repeating: "0", count: 32))-\(span)-01", "00-\(trace)-\(String(repeating: "0", count: 16))-01",
            "00-\(trace.uppercased())-\(span)-01", "00-\(trace.dropLast())-\(span)-01", "0-\(trace)-\(span)-01",
            "00-\(trace)-\(span)-1", "00-\(trace)-\(span)-+1", "00_\(trace)_\(span)_01",
        ])
    func ignores(_ line: String) { #expect(SpanPlace(line: line) == nil) }

    @Test("malformed lines aren't even passed to the tracer")
    func bounds() {
        #expect(TraceContext.isUsable("00-\(Self.trace)-\(Self.span)-01"))
        #expect(!TraceContext.isUsable(""))
        #expect(!TraceContext.isUsable(String(repeating: "0", count: TraceContext.maximumByteCount + 1)))
        #expect(!TraceContext.isUsable("00-\n"))
        #expect(!TraceContext.isUsable("00-ü"))
    }

    private static func tracer(_ change: (inout OTLPConfiguration) -> Void = { _ in }) -> OTLPTracer {
        // Nothing listens on port 9, "discard".
        var configuration = OTLPConfiguration(endpoint: "http://127.0.0.1:9/v1/traces", service: "tests")
        configuration.timeoutMilliseconds = 2_000
        change(&configuration)
        return OTLPTracer(configuration, logger: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() })
    }

    @Test("a child has its parent's trace, and a span that isn't recorded has children that aren't either")
    func children() throws {
        let tracer = Self.tracer()
        let parent = tracer.startSpan("parent")
        let child = tracer.startSpan("child", context: parent.context)
        #expect(child.place.trace == parent.place.trace && child.parent == parent.place.span)
        #expect(parent.parent == nil && parent.isRecording)
        var carrier: [String: String] = [:]
        tracer.inject(child.context, into: &carrier, using: Headers())
        #expect(carrier == ["traceparent": child.place.line])
        var context = ServiceContext.topLevel
        tracer.extract(["traceparent": "00-\(Self.trace)-\(Self.span)-00"], into: &context, using: Headers())
        let remote = tracer.startSpan("remote", context: context)
        #expect(remote.place.traceText == Self.trace && !remote.isRecording)
        remote.end()
        child.end()
        child.end()
        #expect(!child.isRecording)
    }

    private struct Headers: Injector, Extractor {
        func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) { carrier[key] = value }
        func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
    }

    @Test("samplers take the configured share, and follow the parent if configured to")
    func samplers() throws {
        let numbers = (0..<4_096 as Range<UInt64>).map { $0 << 52 }
        func share(_ name: String?, _ argument: String?) throws -> Double {
            let sampler = try TraceSampler(name, argument)
            return Double(numbers.count { sampler.isSampled(parent: nil, traceLow: $0) }) / Double(numbers.count)
        }
        #expect(try share(nil, nil) == 1)
        #expect(try share("always_off", nil) == 0)
        #expect(try share("parentbased_traceidratio", "0.25") == 0.25)
        #expect(try !TraceSampler("parentbased_always_on", nil).isSampled(parent: false, traceLow: 1))
        #expect(try TraceSampler("parentbased_always_off", nil).isSampled(parent: true, traceLow: 1))
        #expect(try TraceSampler("always_on", nil).isSampled(parent: false, traceLow: 1))
        for (name, argument) in [("sometimes", nil), ("traceidratio", "2"), ("traceidratio", "half")] {
            #expect(throws: OTLPConfiguration.Mistake.self) { try TraceSampler(name, argument) }
        }
    }

    @Test("the environment says where to send spans; without an endpoint, none are sent")
    func environment() throws {
        #expect(try OTLPConfiguration.read([:], service: "s") == nil)
        let base = ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"]
        let plain = try #require(try OTLPConfiguration.read(base, service: "s"))
        #expect(plain.endpoint == "http://collector:4318/v1/traces" && plain.service == "s")
        let full = try #require(
            try OTLPConfiguration.read(
                [
                    "OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318/",
                    "OTEL_EXPORTER_OTLP_HEADERS": "api-key=a%3Db, other = c", "OTEL_EXPORTER_OTLP_TIMEOUT": "500",
                    "OTEL_SERVICE_NAME": "named",
                ], service: "s"))
        #expect(full.endpoint == "http://collector:4318/v1/traces" && full.service == "named")
        #expect(full.headers.map(\.name) == ["api-key", "other"] && full.headers.map(\.value) == ["a=b", "c"])
        #expect(full.timeoutMilliseconds == 500)
        #expect(try OTLPConfiguration.read(base.merging(["OTEL_SDK_DISABLED": "true"]) { $1 }, service: "s") == nil)
        for (name, value) in [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"), ("OTEL_EXPORTER_OTLP_TIMEOUT", "0"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "key"), ("OTEL_TRACES_SAMPLER", "sometimes"),
        ] {
            let environment = base.merging([name: value]) { $1 }
            let mistake = #expect(throws: OTLPConfiguration.Mistake.self) {
                try OTLPConfiguration.read(environment, service: "s")
            }
            #expect(mistake?.description.contains(name) == true)
        }
    }

    @Test("spans are dropped if the queue is full or a collector doesn't take them; nothing blocks")
    func isBounded() async {
        let tracer = Self.tracer()
        for _ in 0..<(OTLPTracer.maximumQueueCount + 7) { tracer.startSpan("span").end() }
        #expect(tracer.droppedCount == 7)
        await tracer.sendAll()
        #expect(tracer.droppedCount == 7 + OTLPTracer.maximumBatchCount)
    }

    @Test("an export contains the members that OTLP requires")
    func export() throws {
        let tracer = Self.tracer()
        let span = tracer.startSpan("name", ofKind: .consumer)
        span.attributes["number"] = 7
        span.attributes["text"] = "x"
        span.addLink(SpanLink(context: tracer.startSpan("other").context, attributes: [:]))
        span.setStatus(SpanStatus(code: .error, message: "bad"))
        let content = ExportedSpan.Content(name: "name", attributes: span.attributes, endNanoseconds: 5)
        let data = try JSONEncoder().encode(TraceExport(service: "s", spans: [SpanRecord(span, content)]))
        let text = String(decoding: data, as: UTF8.self)
        #expect(text.contains(#""traceId":"\#(span.place.traceText)""#))
        #expect(text.contains(#""endTimeUnixNano":"5""#) && text.contains(#""kind":5"#))
        #expect(text.contains(#""intValue":"7""#) && text.contains(#""stringValue":"x""#))
        #expect(!text.contains("parentSpanId"))
    }

    @Test("only the newest notes are kept")
    func notes() {
        let notes = TraceNotes<Int>(maximumCount: 100)
        for number in 0..<1_000 { notes.note("line \(number)", for: number) }
        #expect(notes.count <= 100 && notes.line(for: 0) == nil)
        #expect(notes.line(for: 999) == "line 999")
        #expect(notes.take(999) == "line 999" && notes.take(999) == nil)
    }
}
