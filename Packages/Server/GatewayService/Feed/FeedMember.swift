internal import NIOCore

/// A session's membership in a feed. A session that stops following and starts again gets a new number.
struct FeedMember: Hashable, Sendable {
    let session: SessionRunner
    let number: Int

    static func == (left: FeedMember, right: FeedMember) -> Bool {
        left.session === right.session && left.number == right.number
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(session))
        hasher.combine(number)
    }
}
