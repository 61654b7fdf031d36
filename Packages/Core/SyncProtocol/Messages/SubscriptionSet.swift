public import TomboloModel

/// A named query on one class.
public struct Subscription: Hashable, Sendable {
    /// The name, or nil for an unnamed subscription.
    public var name: String?
    /// The class whose objects it selects.
    public var className: String
    /// The condition on the class's own properties. It doesn't follow links.
    public var predicate: Predicate

    public init(name: String?, className: String, predicate: Predicate) {
        self.name = name
        self.className = className
        self.predicate = predicate
    }
}

extension Subscription {
    /// Names are compared by their bytes, like all strings.
    public static func == (left: Subscription, right: Subscription) -> Bool {
        left.hasName(right.name) && left.className == right.className && left.predicate == right.predicate
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(name.map(Value.string))
        hasher.combine(className)
        hasher.combine(predicate)
    }

    /// - Parameter other: the other name, or nil for an unnamed subscription.
    package func hasName(_ other: String?) -> Bool {
        guard let name, let other else { return name == nil && other == nil }
        return name.hasBytes(of: other)
    }
}

/// The queries whose objects a device wants. Every change creates a new version.
public struct SubscriptionSet: Hashable, Sendable {
    /// Counts the changes made on this device, starting at 1; 0 is ``empty``.
    public var version: Int64
    public var subscriptions: [Subscription]

    public init(version: Int64, subscriptions: [Subscription]) {
        self.version = version
        self.subscriptions = subscriptions
    }

    /// The set of a new device, without subscriptions.
    public static let empty = SubscriptionSet(version: 0, subscriptions: [])

    /// The maximum number of subscriptions in a set.
    public static let maximumCount = 1_000
    /// The maximum ``Predicate/partCount`` of all of a set's queries together. The server puts the old and the new set
    /// into one statement, which is limited to 65,535 parameters.
    public static let maximumPartCount = 30_000

    /// The maximum ``Predicate/searchCount`` of all of a set's queries together: each `contains` searches a property's
    /// whole string in every row of its class.
    public static let maximumSearchCount = 100

    /// The number of bytes that a message quotes of a subscription's name, and of what is wrong with the subscription.
    private static let shownNameByteCount = 100
    private static let shownProblemByteCount = 600

    /// Checks every query against the schema. Paths may have only one name, because subscriptions don't follow links.
    /// - Throws: ``ValueError``, which names the subscription.
    public func check(in schema: Schema) throws(ValueError) {
        guard subscriptions.count <= Self.maximumCount else {
            throw ValueError(
                "A subscription set may have at most \(Self.maximumCount) queries, not \(subscriptions.count).")
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
                    "The queries of a subscription set may have at most \(Self.maximumPartCount) comparisons and "
                        + "literals together; '\(name)' exceeds that.")
            }
            searchCount += subscription.predicate.searchCount
            guard searchCount <= Self.maximumSearchCount else {
                throw ValueError(
                    "The queries of a subscription set may have at most \(Self.maximumSearchCount) tests with contains "
                        + "together; '\(name)' exceeds that. Use fewer, or use beginsWith, endsWith or == instead.")
            }
        }
    }
}
