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

    /// The most tests with `contains` of all queries of a set together, see ``Predicate/searchCount``: each reads a
    /// property's whole text, in every row of its class.
    public static let maximumSearchCount = 100

    /// How much of a subscription's name, and of what is wrong with it, a message quotes, in bytes.
    private static let shownNameByteCount = 100
    private static let shownProblemByteCount = 600

    /// Checks every query against the schema. Paths of one name only.
    /// - Throws: ``ValueError`` that names the subscription.
    public func check(in schema: Schema) throws(ValueError) {
        guard subscriptions.count <= Self.maximumCount else {
            throw ValueError("A subscription set has at most \(Self.maximumCount) queries, not \(subscriptions.count).")
        }
        var partCount = 0
        var searchCount = 0
        for subscription in subscriptions {
            let name = (subscription.name ?? "unnamed").shortened(toByteCount: Self.shownNameByteCount)
            do throws(ValueError) {
                guard let item = schema[subscription.className], item.owner == nil else {
                    let names = schema.classes.filter { $0.owner == nil }.map(\.name)
                    let hint = subscription.className.nearest(in: names).map { " Did you mean \($0)?" } ?? ""
                    let className = subscription.className.shortened(toByteCount: Self.shownNameByteCount)
                    throw ValueError("There is no class \(className) to subscribe to.\(hint)")
                }
                try subscription.predicate.check(for: subscription.className, in: schema, maximumPathLength: 1)
            } catch {
                throw ValueError(
                    "Subscription '\(name)': \(error.message.shortened(toByteCount: Self.shownProblemByteCount))")
            }
            partCount += subscription.predicate.partCount
            guard partCount <= Self.maximumPartCount else {
                throw ValueError(
                    "The queries of a subscription set have at most \(Self.maximumPartCount) comparisons and literals "
                        + "together; '\(name)' is beyond that.")
            }
            searchCount += subscription.predicate.searchCount
            guard searchCount <= Self.maximumSearchCount else {
                throw ValueError(
                    "The queries of a subscription set have at most \(Self.maximumSearchCount) tests with contains "
                        + "together; '\(name)' is beyond that. Use fewer, or another test: beginsWith, endsWith or ==.")
            }
        }
    }
}
