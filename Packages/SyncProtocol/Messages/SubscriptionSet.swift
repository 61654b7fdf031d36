public import TomboloModel

/// A named query on one class.
public struct Subscription: Hashable, Sendable {
    /// Nil for an unnamed one.
    public var name: String?
    public var className: String
    public var predicate: Predicate

    public init(name: String?, className: String, predicate: Predicate) {
        self.name = name
        self.className = className
        self.predicate = predicate
    }
}

/// What a device wants to have. Every change makes a new version.
public struct SubscriptionSet: Hashable, Sendable {
    public var version: Int64
    public var subscriptions: [Subscription]

    public init(version: Int64, subscriptions: [Subscription]) {
        self.version = version
        self.subscriptions = subscriptions
    }

    public static let empty = SubscriptionSet(version: 0, subscriptions: [])

    /// The most subscriptions of one set.
    public static let maximumCount = 1_000
    /// The most parts of all queries of a set together, see ``Predicate/partCount``: the server puts the old and the
    /// new set into one statement, which takes 65,535 parameters.
    public static let maximumPartCount = 30_000

    /// Checks every query against the schema. Paths of one name only.
    /// - Throws: ``ValueError`` that names the subscription.
    public func check(in schema: Schema) throws(ValueError) {
        guard subscriptions.count <= Self.maximumCount else {
            throw ValueError("A subscription set has at most \(Self.maximumCount) queries, not \(subscriptions.count).")
        }
        var partCount = 0
        for subscription in subscriptions {
            do throws(ValueError) {
                guard let item = schema[subscription.className], item.owner == nil else {
                    let names = schema.classes.filter { $0.owner == nil }.map(\.name)
                    let hint = subscription.className.nearest(in: names).map { " Did you mean \($0)?" } ?? ""
                    throw ValueError("There is no class \(subscription.className) to subscribe to.\(hint)")
                }
                try subscription.predicate.check(for: subscription.className, in: schema, maximumPathLength: 1)
            } catch {
                throw ValueError("Subscription '\(subscription.name ?? "unnamed")': \(error.message)")
            }
            partCount += subscription.predicate.partCount
            guard partCount <= Self.maximumPartCount else {
                throw ValueError(
                    "The queries of a subscription set have at most \(Self.maximumPartCount) comparisons and literals "
                        + "together; '\(subscription.name ?? "unnamed")' is beyond that.")
            }
        }
    }
}
