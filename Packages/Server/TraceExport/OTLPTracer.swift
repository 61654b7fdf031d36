internal import AsyncHTTPClient
internal import Foundation
public import Logging
internal import NIOCore
internal import NIOHTTP1
public import ServiceLifecycle
internal import Synchronization
public import Tracing

/// A tracer that sends spans to an OpenTelemetry collector: OTLP over HTTP, in JSON. Everything is bounded and
/// nothing blocks: spans beyond ``maximumQueueCount`` are dropped, and so are spans that the collector doesn't
/// accept. https://opentelemetry.io/docs/specs/otlp/#otlphttp
public final class OTLPTracer: Tracer, Service {
    /// The most spans that wait to be sent.
    public static let maximumQueueCount = 2_048
    /// The most spans in one request.
    public static let maximumBatchCount = 512
    /// How long a span waits for others before it is sent.
    public static let delay = Duration.seconds(1)
    /// The most bytes read of a collector's response.
    static let maximumAnswerByteCount = 64 << 10
    /// How long a process that is shutting down continues to send.
    public static let shutdownLimit = Duration.seconds(2)

    private struct Queue {
        var spans: [SpanRecord] = []
        var droppedCount = 0
    }

    private let configuration: OTLPConfiguration
    private let logger: Logger
    private let queue = Mutex(Queue())
    private let hasFailed = Mutex(false)

    public init(_ configuration: OTLPConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
    }

    /// Makes this the process's tracer. Call once per process.
    public func install() { InstrumentationSystem.bootstrap(self) }

    /// The number of spans dropped because the queue was full or the collector didn't accept them.
    public var droppedCount: Int { queue.withLock { $0.droppedCount } }

    // MARK: Tracer

    public func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> ExportedSpan {
        let context = context()
        let parent = context.spanPlace
        var generator = SystemRandomNumberGenerator()
        let trace = parent?.trace ?? (generator.next() | 1, generator.next())
        let isSampled = configuration.sampler.isSampled(parent: parent?.isSampled, traceLow: trace.1)
        return ExportedSpan(
            operationName, context: context,
            place: SpanPlace(trace: trace, span: generator.next() | 1, isSampled: isSampled), parent: parent?.span,
            kind: kind, startNanoseconds: instant().nanosecondsSinceEpoch
        ) { [weak self] in self?.add($0, $1) }
    }

    public func forceFlush() {}

    public func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
        guard let line = extractor.extract(key: "traceparent", from: carrier), let place = SpanPlace(line: line) else {
            return
        }
        context.spanPlace = place
    }

    public func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let place = context.spanPlace else { return }
        injector.inject(place.line, forKey: "traceparent", into: &carrier)
    }

    // MARK: Sending

    private func add(_ span: ExportedSpan, _ content: ExportedSpan.Content) {
        let record = SpanRecord(span, content)
        queue.withLock { queue in
            if queue.spans.count < Self.maximumQueueCount {
                queue.spans.append(record)
            } else {
                queue.droppedCount += 1
            }
        }
    }

    /// Sends until shutdown, and then sends what is left.
    public func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.delay)
                await self.sendAll()
            }
        }
        // Not cancelled at shutdown, but bounded in time.
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await Task { await self.sendAll() }.value }
            group.addTask { try? await Task.sleep(for: Self.shutdownLimit) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Sends everything that waits, one batch at a time.
    public func sendAll() async {
        while true {
            let batch = queue.withLock { queue in
                let batch = Array(queue.spans.prefix(Self.maximumBatchCount))
                queue.spans.removeFirst(batch.count)
                return batch
            }
            guard !batch.isEmpty else { return }
            do {
                try await send(batch)
                if hasFailed.withLock({ exchange(&$0, false) }) {
                    logger.notice("Exporting spans again.")
                }
            } catch {
                queue.withLock { $0.droppedCount += batch.count }
                if !hasFailed.withLock({ exchange(&$0, true) }) {
                    logger.warning(
                        "Can't export spans to \(configuration.endpoint); dropping them: \(error)")
                }
                return
            }
        }
    }

    private func exchange(_ flag: inout Bool, _ value: Bool) -> Bool {
        let before = flag
        flag = value
        return before
    }

    struct Refused: Error, CustomStringConvertible {
        let status: UInt

        var description: String { "it answered with status \(status)" }
    }

    private func send(_ batch: [SpanRecord]) async throws {
        var request = HTTPClientRequest(url: configuration.endpoint)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        for (name, value) in configuration.headers { request.headers.replaceOrAdd(name: name, value: value) }
        let body = try JSONEncoder().encode(TraceExport(service: configuration.service, spans: batch))
        request.body = .bytes(body)
        let response = try await HTTPClient.shared.execute(
            request, timeout: .milliseconds(configuration.timeoutMilliseconds))
        _ = try await response.body.collect(upTo: Self.maximumAnswerByteCount)
        guard (200..<300).contains(response.status.code) else { throw Refused(status: response.status.code) }
    }
}
