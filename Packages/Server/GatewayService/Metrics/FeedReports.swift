internal import Foundation
internal import TomboloChangesets
internal import TomboloSyncProtocol
public import TomboloSyncSession

/// What the feed did with one tick.
public struct TickReport: Sendable {
    public let number: Int64
    public let changeCount: Int
    /// Predicates that the indexes found for its rows, before and after each change.
    public let candidateCount: Int
    /// Sessions that were told about the tick.
    public let toldCount: Int
    /// How long matching took.
    public let matching: Duration
    /// How old the tick was when it was matched, or zero if the clocks disagree.
    public let age: Duration
}

/// One transaction of uploads.
public struct UploadGroupReport: Sendable {
    public let changesetCount: Int
    public let took: Duration
    /// One for each changeset, or nil if its outcome is unknown.
    public let results: [UploadResult?]
}

extension TickReport {
    init(_ live: LiveTick, _ announcement: LiveFeed<FeedMember>.Announcement, matching: Duration) {
        let now = Int64(Date().timeIntervalSince1970 * 1_000_000)
        self.init(
            number: live.tick.number, changeCount: live.difference.changes.count,
            candidateCount: announcement.candidateCount,
            toldCount: announcement.batches.reduce(0) { $0 + $1.members.count }, matching: matching,
            age: .microseconds(max(0, now - live.tick.time.microseconds)))
    }
}
