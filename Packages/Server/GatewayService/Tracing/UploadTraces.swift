internal import TomboloChangesets
internal import TomboloSyncProtocol
internal import TomboloSyncSession
internal import TomboloTracing
internal import Tracing

/// Continues the traces of devices' uploads through a gateway: received, committed, and sent with the tick that
/// includes them. Uploads that another gateway received have no trace here.
final class UploadTraces: Sendable {
    private struct Key: Hashable, Sendable {
        let client: ClientID
        let number: Int64
    }

    /// The most uploads whose tick hasn't come yet and whose spans are remembered.
    static let maximumCount = 10_000
    /// The most changesets of one client that are looked up for one tick.
    static let maximumCountOfTick = 1_000

    private let notes = TraceNotes<Key>(maximumCount: maximumCount)

    // MARK: Uploads

    /// Received changesets, each with the span that continues its trace.
    struct Received: Sendable {
        fileprivate(set) var changesets: [Changeset]
        fileprivate var spans: [any Span] = []

        func end() { for span in spans { span.end() } }
    }

    /// Call before the changesets are applied, because their tick may come before the answer.
    func receive(_ changesets: [Changeset], from client: ClientID) -> Received {
        var received = Received(changesets: changesets)
        guard changesets.contains(where: { $0.traceparent != nil }), TraceContext.isOn else { return received }
        for index in changesets.indices {
            guard let line = changesets[index].traceparent else { continue }
            let span = TraceContext.span("tombolo.receive", after: line, ofKind: .consumer)
            span.attributes["tombolo.changeset"] = changesets[index].number
            received.changesets[index].traceparent = TraceContext.line(of: span)
            if let own = received.changesets[index].traceparent {
                notes.note(own, for: Key(client: client, number: changesets[index].number))
            }
            received.spans.append(span)
        }
        return received
    }

    /// The spans of a transaction, one for each changeset that has a trace.
    static func commits(_ uploads: [Upload]) -> [any Span] {
        guard uploads.contains(where: { $0.changeset.traceparent != nil }), TraceContext.isOn else { return [] }
        return uploads.compactMap { upload in
            upload.changeset.traceparent.map { line in
                let span = TraceContext.span("tombolo.commit", after: line)
                span.attributes["tombolo.changeset"] = upload.changeset.number
                span.attributes["tombolo.group"] = uploads.count
                return span
            }
        }
    }

    // MARK: Ticks

    /// The spans of a tick's writers.
    struct OfTick {
        fileprivate var matches: [any Span]
        fileprivate var sends: [any Span] = []

        /// The tick was matched with all sessions.
        mutating func matched(toldCount: Int) {
            for match in matches {
                match.attributes["tombolo.sessions"] = toldCount
                if let line = TraceContext.line(of: match) {
                    sends.append(TraceContext.span("tombolo.send", after: line, ofKind: .producer))
                }
                match.end()
            }
        }

        /// The sessions were told.
        func sent() { for send in sends { send.end() } }
    }

    /// Finds the traces that continue with a tick, and records them in it.
    /// - Returns: nil if there are none.
    func begin(_ live: inout LiveTick) -> OfTick? {
        guard notes.count > 0, TraceContext.isOn else { return nil }
        var lines: [String] = []
        for (client, first) in live.difference.clients {
            let last = min(live.progress[client]?.last ?? first, first + Int64(Self.maximumCountOfTick))
            guard first <= last else { continue }
            for number in first...last {
                guard let line = notes.take(Key(client: client, number: number)) else { continue }
                if lines.count < MessageCodec.maximumTraceparentCount { lines.append(line) }
            }
        }
        guard !lines.isEmpty else { return nil }
        let made = UInt64(max(0, live.tick.time.microseconds)) * 1_000
        var matches: [any Span] = []
        for line in lines {
            let tick = TraceContext.span("tombolo.tick", after: line, since: made)
            tick.attributes["tombolo.tick"] = live.tick.number
            tick.attributes["tombolo.changes"] = live.difference.changes.count
            if let own = TraceContext.line(of: tick) { matches.append(TraceContext.span("tombolo.match", after: own)) }
            tick.end()
        }
        // If there are several writers, each trace names the others that share its tick.
        for match in matches {
            for other in matches where other.context.isEmpty == false {
                if TraceContext.line(of: other) != TraceContext.line(of: match) {
                    match.addLink(SpanLink(context: other.context, attributes: [:]))
                }
            }
        }
        live.traceparents = matches.compactMap(TraceContext.line(of:))
        return OfTick(matches: matches)
    }
}
