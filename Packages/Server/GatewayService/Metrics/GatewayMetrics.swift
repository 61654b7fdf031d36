internal import CoreMetrics
internal import TomboloChangesets
package import TomboloMetrics
internal import TomboloSyncProtocol
internal import TomboloSyncSession

/// The gateway's counters. A session holds only a reference to them. Current figures are computed when somebody asks,
/// see ``GatewayFigures``.
package final class GatewayMetrics: Sendable {
    package static let receivedMessages = MetricDefinition(
        "tombolo_received_messages_total", .counter, "Messages received from devices.")
    package static let receivedBytes = MetricDefinition(
        "tombolo_received_bytes_total", .counter, "Bytes of messages received from devices.")
    package static let sentMessages = MetricDefinition(
        "tombolo_sent_messages_total", .counter, "Messages sent to devices.")
    package static let sentBytes = MetricDefinition(
        "tombolo_sent_bytes_total", .counter, "Bytes of messages sent to devices.")
    package static let connections = MetricDefinition(
        "tombolo_connections_total", .counter, "Device connections accepted.")
    package static let refusedConnections = MetricDefinition(
        "tombolo_connections_refused_total", .counter, labels: ["reason"],
        "Device connections refused: 'full', the gateway had too many; 'address', the device's address had too many.")
    package static let failures = MetricDefinition(
        "tombolo_session_failures_total", .counter, labels: ["code"],
        "Sessions ended by a failure sent to the device, by code; 'reset' for devices that must start over.")
    package static let reads = MetricDefinition(
        "tombolo_reads_total", .counter, labels: ["kind", "outcome"],
        "Batches read from the database. A 'bootstrap' reads everything, a 'catch_up' a difference. 'begun' counts all "
            + "of them; 'finished', 'given_up' and 'failed' say how they ended.")
    package static let readDuration = MetricDefinition(
        "tombolo_read_duration_seconds", .seconds, labels: ["kind"],
        "How long finished reads took, including the wait for a slot, in seconds.")
    package static let uploadedChangesets = MetricDefinition(
        "tombolo_uploaded_changesets_total", .counter, labels: ["result"],
        "Uploaded changesets by outcome: applied, duplicate, gap, conflict, unknown_base, or failed.")
    package static let lostWrites = MetricDefinition(
        "tombolo_lost_writes_total", .counter, "Field writes by devices that lost to a concurrent edit.")
    package static let refusals = MetricDefinition(
        "tombolo_refusals_total", .counter, labels: ["code"], "Refused writes by devices, by code.")
    package static let uploadGroup = MetricDefinition(
        "tombolo_upload_group_changesets", .counts, "Changesets per upload transaction.")
    package static let uploadDuration = MetricDefinition(
        "tombolo_upload_duration_seconds", .seconds, "How long upload transactions took, in seconds.")
    package static let ticks = MetricDefinition(
        "tombolo_feed_ticks_total", .counter, "Ticks that the feed has passed to its sessions.")
    package static let changes = MetricDefinition(
        "tombolo_feed_changes_total", .counter, "Changed objects in these ticks.")
    package static let told = MetricDefinition(
        "tombolo_feed_told_sessions_total", .counter,
        "Ticks sent to sessions that they concern, counted for each session.")
    package static let matching = MetricDefinition(
        "tombolo_feed_matching_seconds", .shortSeconds,
        "How long it took to match one tick against everything that sessions follow, in seconds.")
    package static let candidates = MetricDefinition(
        "tombolo_feed_tick_candidates", .largeCounts,
        "Session predicates that the indexes found for the rows of one tick, before and after each change: the ones "
            + "that matching had to evaluate.")
    package static let tickAge = MetricDefinition(
        "tombolo_feed_tick_age_seconds", .seconds,
        "How old ticks were once the feed had matched them, in seconds, by the database's clock and this machine's.")

    package static let definitions = [
        receivedMessages, receivedBytes, sentMessages, sentBytes, connections, refusedConnections, failures, reads,
        readDuration, uploadedChangesets, lostWrites, refusals, uploadGroup, uploadDuration, ticks, changes, told,
        matching, candidates, tickAge,
    ]

    /// A kind of read.
    enum ReadKind: String, CaseIterable {
        case bootstrap
        case catchUp = "catch_up"

        init(_ request: ReadRequest) { self = request.from == nil ? .bootstrap : .catchUp }
    }

    enum ReadOutcome: String, CaseIterable {
        case finished
        case givenUp = "given_up"
        case failed
    }

    enum Refused: String, CaseIterable {
        case full
        case address
    }

    package let registry: MetricRegistry
    private let receivedMessages: Counter
    private let receivedBytes: Counter
    private let sentMessages: Counter
    private let sentBytes: Counter
    private let connections: Counter
    private let ticks: Counter
    private let changes: Counter
    private let told: Counter
    private let matching: Timer
    private let candidates: Recorder
    private let tickAge: Timer
    private let uploadGroup: Recorder
    private let uploadDuration: Timer
    private let lostWrites: Counter

    package init(_ registry: MetricRegistry) {
        self.registry = registry
        registry.define(Self.definitions)
        receivedMessages = registry.counter(Self.receivedMessages)
        receivedBytes = registry.counter(Self.receivedBytes)
        sentMessages = registry.counter(Self.sentMessages)
        sentBytes = registry.counter(Self.sentBytes)
        connections = registry.counter(Self.connections)
        ticks = registry.counter(Self.ticks)
        changes = registry.counter(Self.changes)
        told = registry.counter(Self.told)
        matching = registry.timer(Self.matching)
        candidates = registry.recorder(Self.candidates)
        tickAge = registry.timer(Self.tickAge)
        uploadGroup = registry.recorder(Self.uploadGroup)
        uploadDuration = registry.timer(Self.uploadDuration)
        lostWrites = registry.counter(Self.lostWrites)
        // A rate needs to start from zero.
        for reason in Refused.allCases { registry.counter(Self.refusedConnections, reason.rawValue).increment(by: 0) }
        for kind in ReadKind.allCases {
            for outcome in ["begun"] + ReadOutcome.allCases.map(\.rawValue) {
                registry.counter(Self.reads, kind.rawValue, outcome).increment(by: 0)
            }
        }
    }

    // MARK: Connections

    func connected() { connections.increment() }

    func refused(_ reason: Refused) { registry.counter(Self.refusedConnections, reason.rawValue).increment() }

    func received(byteCount: Int) {
        receivedMessages.increment()
        receivedBytes.increment(by: byteCount)
    }

    func sent(byteCount: Int) {
        sentMessages.increment()
        sentBytes.increment(by: byteCount)
    }

    func ended(with message: ServerMessage) {
        switch message {
        case .failure(let failure): registry.counter(Self.failures, failure.code.rawValue).increment()
        case .reset: registry.counter(Self.failures, "reset").increment()
        default: break
        }
    }

    // MARK: Reads

    func began(_ kind: ReadKind) { registry.counter(Self.reads, kind.rawValue, "begun").increment() }

    func ended(_ kind: ReadKind, _ outcome: ReadOutcome, took: Duration) {
        registry.counter(Self.reads, kind.rawValue, outcome.rawValue).increment()
        if outcome == .finished { registry.timer(Self.readDuration, kind.rawValue).recordNanoseconds(took.nanoseconds) }
    }

    // MARK: Uploads

    func note(_ report: UploadGroupReport) {
        uploadGroup.record(report.changesetCount)
        uploadDuration.recordNanoseconds(report.took.nanoseconds)
        for result in report.results {
            registry.counter(Self.uploadedChangesets, result?.name ?? "failed").increment()
            guard case .applied(let lost, let refusals)? = result else { continue }
            lostWrites.increment(by: lost)
            for refusal in refusals { registry.counter(Self.refusals, refusal.code.rawValue).increment() }
        }
    }

    // MARK: Feed

    func note(_ report: TickReport) {
        ticks.increment()
        changes.increment(by: report.changeCount)
        told.increment(by: report.toldCount)
        matching.recordNanoseconds(report.matching.nanoseconds)
        candidates.record(report.candidateCount)
        tickAge.recordNanoseconds(report.age.nanoseconds)
    }
}

extension Duration {
    /// The unit that swift-metrics uses.
    fileprivate var nanoseconds: Int64 { components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000 }
}

extension UploadResult {
    fileprivate var name: String {
        switch self {
        case .applied: "applied"
        case .duplicate: "duplicate"
        case .gap: "gap"
        case .conflict: "conflict"
        case .unknownBase: "unknown_base"
        }
    }
}
