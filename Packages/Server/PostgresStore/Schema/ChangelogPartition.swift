/// The changelog is partitioned by ranges of its sequence. The next partition is opened by letting the sequence jump
/// to its range, so that the one in use has no end that it could reach and is never missing.
enum ChangelogPartition {
    /// Sequence numbers of one partition: more than a database can write in its life.
    static let width: Int64 = 1 << 40

    static func name(_ generation: Int64) -> String { "changelog_\(generation)" }
    static func range(_ generation: Int64) -> Range<Int64> { generation * width..<(generation + 1) * width }
}
