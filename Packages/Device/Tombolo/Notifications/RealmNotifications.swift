/// A Realm's notifications from the start of the loop, for `for await`. If a kind of notification occurred several
/// times in the meantime, it arrives once. Ends when the task is cancelled. May only be used where the Realm may be
/// used.
public struct RealmNotifications: AsyncSequence {
    public typealias Element = Realm.Notification
    public typealias Failure = Never

    let core: RealmCore

    public func makeAsyncIterator() -> Iterator {
        let stream = NotificationStream(core)
        stream.start()
        return Iterator(stream: stream)
    }

    public struct Iterator: AsyncIteratorProtocol {
        let stream: NotificationStream

        public mutating func next() async -> Realm.Notification? { await stream.next(isolation: #isolation) }

        public mutating func next(isolation actor: isolated (any Actor)?) async -> Realm.Notification? {
            await stream.next(isolation: actor)
        }
    }
}

extension Realm {
    /// The notifications of ``observe(_:)``: `for await notification in realm.notifications`.
    public var notifications: RealmNotifications {
        core.confinement.check()
        core.requireLive()
        return RealmNotifications(core: core)
    }
}
