internal import Synchronization
public import Tracing

/// A span that is exported when it ends.
public final class ExportedSpan: Span {
    /// The most attributes, links or events. Any more are dropped.
    static let maximumPartCount = 32

    struct Content: Sendable {
        var name: String
        var attributes: SpanAttributes = [:]
        var links: [SpanPlace] = []
        var status: SpanStatus?
        var endNanoseconds: UInt64?
    }

    public let context: ServiceContext
    let place: SpanPlace
    let parent: UInt64?
    let kind: SpanKind
    let startNanoseconds: UInt64
    private let content: Mutex<Content>
    private let onEnd: @Sendable (ExportedSpan, Content) -> Void

    init(
        _ name: String, context: ServiceContext, place: SpanPlace, parent: UInt64?, kind: SpanKind,
        startNanoseconds: UInt64, onEnd: @escaping @Sendable (ExportedSpan, Content) -> Void
    ) {
        var context = context
        context.spanPlace = place
        self.context = context
        self.place = place
        self.parent = parent
        self.kind = kind
        self.startNanoseconds = startNanoseconds
        self.onEnd = onEnd
        content = Mutex(Content(name: name))
    }

    private func change(_ body: (inout Content) -> Void) {
        guard place.isSampled else { return }
        content.withLock { if $0.endNanoseconds == nil { body(&$0) } }
    }

    public var operationName: String {
        get { content.withLock { $0.name } }
        set { change { $0.name = newValue } }
    }

    public var attributes: SpanAttributes {
        get { content.withLock { $0.attributes } }
        set { change { $0.attributes = newValue } }
    }

    public var isRecording: Bool { place.isSampled && content.withLock { $0.endNanoseconds == nil } }

    public func setStatus(_ status: SpanStatus) { change { $0.status = status } }

    /// Events are not exported.
    public func addEvent(_ event: SpanEvent) {}

    public func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {
        // The error's text may quote data, so only its type is recorded.
        change { $0.status = SpanStatus(code: .error, message: "\(type(of: error))") }
    }

    public func addLink(_ link: SpanLink) {
        guard let place = link.context.spanPlace else { return }
        change { if $0.links.count < Self.maximumPartCount { $0.links.append(place) } }
    }

    public func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        guard place.isSampled else { return }
        let end = instant().nanosecondsSinceEpoch
        let ended = content.withLock { content -> Content? in
            guard content.endNanoseconds == nil else { return nil }
            content.endNanoseconds = end
            return content
        }
        if let ended { onEnd(self, ended) }
    }
}
