internal import TomboloModel
internal import TomboloSyncProtocol

/// A session with a partition has no subscriptions: it gets everything in the partition that its user may read.
extension ServerSession {
    static let noSubscriptions = SessionFailure(
        .badSubscription,
        "A partition-based Realm has no subscriptions; it gets everything in its partition that the user may read. For "
            + "your own queries, open a Realm with user.flexibleSyncConfiguration().")

    /// A subscription to every class that the device has. Objects outside the partition can't be read anyway.
    var everything: SubscriptionSet {
        let classes = deviceColumns.keys.sorted().filter { schema[$0].owner == nil }.map { schema[$0].name }
        return SubscriptionSet(
            version: 0,
            subscriptions: classes.map { Subscription(name: nil, className: $0, predicate: .constant(true)) })
    }

    /// - Throws: a failure if the device wants subscriptions in a partition, or if a new device's user can't read
    ///   anything in it. A device that already has content is let in, so that the content is removed first.
    func checkPartition(_ hello: Hello, _ authority: SessionAuthority) throws(SessionFailure) {
        guard let partition = authority.partition else { return }
        guard hello.wantedSubscriptions.subscriptions.isEmpty else { throw Self.noSubscriptions }
        guard !partition.columns.isEmpty else {
            throw SessionFailure(
                .badSchema,
                "No class of the server has a partition property. Name it '_partition' or 'partition', or declare "
                    + "another one in the rule document: partition: {key: …}.")
        }
        guard hello.position.tick == 0 else { return }
        guard partition.columns.keys.contains(where: { authority.readable($0) != .constant(false) }) else {
            throw SessionFailure(
                .notPermitted,
                "Not permitted to open the partition \(partition.value): no role lets this user read anything in it.")
        }
    }
}
