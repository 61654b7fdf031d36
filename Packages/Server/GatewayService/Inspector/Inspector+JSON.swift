internal import TomboloChangesets
internal import TomboloHTTP
internal import TomboloModel
internal import TomboloSyncProtocol
internal import TomboloSyncSession

extension Inspector {
    /// A session, with as many details of its subscriptions as the caller may see.
    /// - Parameter count: the most subscriptions to include.
    func json(_ report: SessionReport, newest: Tick, subscriptions count: Int, _ view: InspectorView) -> JSON {
        let session = report.session
        let behind = max(0, newest.number - report.reached.number)
        let behindMicroseconds =
            report.reached.number == 0 ? 0 : max(0, newest.time.microseconds - report.reached.time.microseconds)
        return [
            "id": .string(String(report.number)),
            "client": report.client.rawValue > 0 ? .string(report.client.description) : .null,
            "user": report.user.map(JSON.string) ?? .null, "address": .string(report.address),
            "state": .string(session.state.rawValue),
            "connectedSeconds": .int(report.connectedFor.components.seconds),
            "generation": report.generation.map { .int(Int64($0)) } ?? .null,
            "partition": session.partition.map { JSON($0) } ?? .null,
            "subscriptions": json(session.subscriptions, first: count, view),
            "waitingSubscriptions": session.waitingSubscriptions.map { json($0, first: count, view) } ?? .null,
            "position": [
                "tick": .int(report.reached.number), "sentTick": .int(session.sentTick), "behindTicks": .int(behind),
                "behindMilliseconds": .int(behindMicroseconds / 1_000),
                "unappliedBatches": .int(Int64(session.unappliedCount)), "isFollowing": .bool(session.isFollowing),
            ],
            "uploads": [
                "waiting": .int(Int64(session.waitingUploadCount)), "underWay": .int(Int64(session.uploadingCount)),
                "bytes": .int(Int64(report.uploadByteCount)), "received": .int(session.received),
                "acknowledged": .int(session.acknowledged),
                "unacknowledged": .int(max(0, session.received - session.acknowledged)),
            ],
            "sending": [
                "isWritable": .bool(session.isWritable), "isReadingBatch": .bool(report.isReading),
                "pendingBytes": .int(Int64(report.pendingByteCount)),
                "spooledBytes": .int(Int64(report.spooledByteCount)),
            ],
        ]
    }

    private func json(_ set: SubscriptionSet, first count: Int, _ view: InspectorView) -> JSON {
        let shown = set.subscriptions.prefix(count).map { subscription -> JSON in
            let isShown = view.includes(subscription.className)
            return [
                "name": isShown
                    ? subscription.name.map { .string($0.shortened(toByteCount: 100)) } ?? .null
                    : .null,
                "class": .string(subscription.className),
                "objects": .string(view.text(subscription.predicate, of: subscription.className)),
            ]
        }
        return [
            "version": .int(set.version), "count": .int(Int64(set.subscriptions.count)), "first": .array(shown),
        ]
    }
}
