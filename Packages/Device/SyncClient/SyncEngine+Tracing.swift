internal import TomboloChangesets
internal import TomboloSyncProtocol
internal import TomboloTracing
internal import Tracing

extension SyncEngine {
    /// A changeset with more instructions than this is uploaded without a trace.
    static let maximumTracedInstructionCount = 10_000

    /// Encodes a message. Changesets whose write was traced name the span of their upload.
    func encoded(_ message: ClientMessage) -> [UInt8] {
        guard case .upload(var changesets) = message, let file = configuration.file, TraceContext.isOn else {
            return codec.encode(message)
        }
        var spans: [any Span] = []
        for index in changesets.indices {
            let changeset = changesets[index]
            guard changeset.queuedBytes == nil, changeset.instructions.count <= Self.maximumTracedInstructionCount,
                let line = WriteTrace.notes.line(for: WriteTrace.Key(file: file, number: changeset.number))
            else { continue }
            let span = TraceContext.span("tombolo.upload", after: line, ofKind: .producer)
            span.attributes["tombolo.changeset"] = changeset.number
            changesets[index].traceparent = TraceContext.line(of: span)
            spans.append(span)
        }
        defer { for span in spans { span.end() } }
        guard !spans.isEmpty else { return codec.encode(message) }
        let bytes = codec.encode(.upload(changesets))
        // Traces must not make a message too long.
        return bytes.count <= MessageCodec.maximumMessageByteCount / 2 ? bytes : codec.encode(message)
    }

    /// Applies a batch as part of its writers' traces.
    func traced<Result>(_ end: BatchEnd, _ body: () throws -> Result) rethrows -> Result {
        guard !end.traceparents.isEmpty, TraceContext.isOn else { return try body() }
        let spans = end.traceparents.map { TraceContext.span("tombolo.apply", after: $0, ofKind: .consumer) }
        for span in spans { span.attributes["tombolo.tick"] = end.position.tick }
        defer { for span in spans { span.end() } }
        return try body()
    }
}
