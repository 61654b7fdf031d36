internal import NIOCore

/// A session's stay in a feed. A session that stops following and begins again stays under another number.
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
