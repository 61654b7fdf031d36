import EventModels
import ListingModels
import Tombolo

/// A model class, identified by its name.
@MainActor
struct ModelClass {
    let find: (Realm, ObjectId) -> Object?
    let create: (Realm, [String: Any]) -> Void
    let count: (Realm) -> Int
    let subscribe: (SyncSubscriptionSet) -> Void
    let unsubscribe: (SyncSubscriptionSet) -> Void

    private init<T: Object>(_ type: T.Type) {
        find = { realm, id in realm.object(ofType: type, forPrimaryKey: id) }
        create = { realm, values in realm.create(type, value: values) }
        count = { realm in realm.objects(type).count }
        subscribe = { $0.append(QuerySubscription<T>(name: String(describing: type))) }
        unsubscribe = { $0.remove(named: String(describing: type)) }
    }

    private static let all: [String: ModelClass] = [
        "Event": .init(Event.self), "Listing": .init(Listing.self), "Microlocation": .init(Microlocation.self),
        "Order": .init(Order.self), "RoleAssignment": .init(RoleAssignment.self), "Session": .init(Session.self),
        "SocialLink": .init(SocialLink.self), "Speaker": .init(Speaker.self),
        "SpeakerContact": .init(SpeakerContact.self), "Sponsor": .init(Sponsor.self), "Ticket": .init(Ticket.self),
        "Track": .init(Track.self), "User": .init(Account.self),
    ]

    static func named(_ name: String) throws -> ModelClass {
        guard let item = all[name] else { throw DeviceError("There is no class '\(name)'.") }
        return item
    }
}
