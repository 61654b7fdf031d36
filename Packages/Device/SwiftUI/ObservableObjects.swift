#if canImport(SwiftUI)
    public import Combine
    public import Tombolo
    internal import TomboloObservables

    /// Reports changes of an object, a list, an app or a user while it has subscribers. Subscribe where the object's
    /// Realm is used.
    public struct RealmChangePublisher: Publisher {
        public typealias Output = Void
        public typealias Failure = Never

        /// Begins observing. The result is kept until the subscription ends.
        let observe: (@escaping @Sendable () -> Void) -> (any Sendable)?

        public func receive<S: Subscriber>(subscriber: S) where S.Input == Void, S.Failure == Never {
            let subscription = ChangeSubscription()
            subscriber.receive(subscription: subscription)
            let call = Call { _ = subscriber.receive(()) }
            subscription.token = observe { call.body() }
        }
    }

    /// Called only where changes are delivered.
    private final class Call: @unchecked Sendable {
        let body: () -> Void

        init(_ body: @escaping () -> Void) { self.body = body }
    }

    private final class ChangeSubscription: Subscription {
        var token: (any Sendable)?

        /// Demand is ignored: changes have no content, so none are held back.
        func request(_ demand: Subscribers.Demand) {}

        func cancel() { token = nil }
    }

    extension ObjectBase: ObservableObject {
        /// Changes of the managed object. Changes of an unmanaged object can't be observed.
        public var objectWillChange: RealmChangePublisher { .watching(self) }
    }

    extension Tombolo.List: ObservableObject {
        /// Changes of the managed list. Changes of an unmanaged list can't be observed.
        public var objectWillChange: RealmChangePublisher { .watching(self) }
    }

    extension Results {
        /// Changes of the results.
        public var objectWillChange: RealmChangePublisher {
            RealmChangePublisher { tell in
                observe { (change: RealmCollectionChange<Results<Element>>) in
                    if case .initial = change { return }
                    tell()
                }
            }
        }
    }

    extension Tombolo.App: ObservableObject {
        /// Logins, logouts and switches, on the main queue.
        public var objectWillChange: RealmChangePublisher {
            RealmChangePublisher { tell in self.observe { _ in tell() } }
        }
    }

    extension User: ObservableObject {
        /// Changes of the user's state, tokens, profile and custom data, on the main queue.
        public var objectWillChange: RealmChangePublisher {
            RealmChangePublisher { tell in self.observe { _ in tell() } }
        }
    }

    extension RealmChangePublisher {
        fileprivate static func watching(_ value: some Watchable) -> RealmChangePublisher {
            RealmChangePublisher { tell in
                guard value.realm != nil, !value.isFrozen, !value.isInvalidated else { return nil }
                return value._watch(nil) { change in if change == .changed { tell() } }
            }
        }
    }
#endif
