internal import TomboloChangesets
internal import TomboloHTTP
internal import TomboloModel
internal import TomboloRules
internal import TomboloSyncProtocol
internal import TomboloSyncSession

/// A reason why a device has or lacks an object: a code for programs, a sentence for people, and details.
struct InspectorReason: Hashable, Sendable {
    let code: String
    let message: Wording
    var details: [Wording] = []

    /// In English, and for pages of other languages.
    var json: JSON {
        .object([
            "code": .string(code), "message": .string(message.description),
            "details": .array(details.map { .string($0.description) }), "messageWording": message.json,
            "detailWordings": .array(details.map(\.json)),
        ])
    }

    /// What the rules say, as far as the caller may see it.
    struct Rules: Hashable, Sendable {
        /// `role 'agent' (homes:12)`; nil if no role applies.
        let role: Wording?
        /// What would have to change for the object to be readable.
        let needs: [Wording]

        /// - Parameter mayShow: whether the caller may read the object, because the needs quote it.
        init(_ explanation: Explanation, mayShow: Bool, _ view: InspectorView) {
            role = explanation.role.map { Wording("role '\(name: $0.name)' (\($0.place))") }
            let read = explanation.permissions.first { $0.operation == .read }
            let roleNeeds = explanation.roles.filter { !$0.applies }.flatMap { role in
                role.needs.map { Wording("role '\(name: role.name)' (\(role.place)) would need: \($0)") }
            }
            guard let read else {
                needs = explanation.hasRules ? roleNeeds : [Wording("\(explanation.className) has no rules")]
                return
            }
            let isShown = mayShow && read.filter.paths.allSatisfy { view.shows($0, of: explanation.className) }
            needs = isShown || read.needs.isEmpty ? read.needs : [InspectorView.concealment]
        }
    }

    // MARK: The object

    static func ofObject(_ found: Inspector.Found, _ question: InspectorQuestion) -> [InspectorReason] {
        if found.isInTrash {
            return [
                InspectorReason(
                    code: "in_trash", message: Wording("The object is in the trash, so no device has it."),
                    details: [Wording("Restore it with POST /admin/trash/ID/restore on the admin server.")])
            ]
        }
        guard found.row == nil else { return [] }
        return [
            InspectorReason(
                code: "no_object",
                message: Wording("There is no \(question.className) with this id, or none that you may inspect."),
                details: [Wording("A device may have created it and not uploaded it yet.")])
        ]
    }

    static func notInTick(_ tick: Tick) -> InspectorReason {
        InspectorReason(
            code: "not_in_tick",
            message: Wording(
                "The object was written after the newest tick, \(tick.number): devices get it with the next one."),
            details: [Wording("If this doesn't change, no sequencer is running: look at tombolo_sequencer_elected.")])
    }

    // MARK: Subscriptions and rules

    static func ofSight(
        _ sight: Sight, _ row: Row, _ item: ClassSchema, in schema: Schema, rules: Rules?, _ view: InspectorView
    ) -> [InspectorReason] {
        var reasons = sight.obstacles.map { reason($0, row, item, in: schema, rules, view) }
        if sight.isWanted, !sight.isVisible {
            reasons.append(
                InspectorReason(
                    code: "wanted",
                    message:
                        Wording(
                            "The device has subscribed to it since: its new subscriptions are waiting for the batch in "
                                + "progress."
                        )))
        }
        return reasons
    }

    private static func reason(
        _ obstacle: Sight.Obstacle, _ row: Row, _ item: ClassSchema, in schema: Schema, _ rules: Rules?,
        _ view: InspectorView
    ) -> InspectorReason {
        switch obstacle {
        case .notOpen(let state): return notOpen(state)
        case .classNotOnDevice:
            return InspectorReason(
                code: "class_not_on_device",
                message: Wording("The device's version of the app has no class \(item.name)."))
        case .notSubscribed:
            return InspectorReason(
                code: "not_subscribed", message: Wording("The device has no subscription to \(item.name)."))
        case .notMatched(let misses):
            return InspectorReason(
                code: "no_subscription_matches",
                message: Wording(
                    "None of the device's subscriptions to \(item.name) matches the object (\(misses.count) checked)."),
                details: misses.prefix(Inspector.maximumSubscriptionCount).map { miss in
                    let failure = view.text(miss.failure, unsatisfiedBy: row, of: item, in: schema)
                    guard let name = miss.name?.shortened(toByteCount: 100) else {
                        return Wording("An unnamed subscription requires \(failure)")
                    }
                    return Wording("The subscription '\(name)' requires \(failure)")
                })
        case .classWithoutPartition:
            return InspectorReason(
                code: "class_without_partition",
                message: Wording(
                    "The session is in a partition, and \(item.name) has no partition key."))
        case .otherPartition(let column, let partition):
            let shown = view.shows(PropertyPath(column), of: item.name) && view.mayRead(row, of: item.name, in: schema)
            let value = item.columnIndex(column).map { "\(row[$0])" } ?? "nil"
            return InspectorReason(
                code: "other_partition",
                message: Wording("The session is in the partition \(partition), and the object is in another one."),
                details: shown ? [Wording("Its '\(column)' is \(value.shortened(toByteCount: 200))")] : [])
        case .notReadable(let failure):
            return notReadable(view.text(failure, unsatisfiedBy: row, of: item, in: schema), rules)
        }
    }

    static func notReadable(_ failure: Wording?, _ rules: Rules?) -> InspectorReason {
        let message =
            if let role = rules?.role {
                Wording("The rules don't let the device's user read the object: the \(role) decides.")
            } else if rules != nil {
                Wording("The rules don't let the device's user read the object: no role applies to the user.")
            } else {
                Wording("The rules don't let the device's user read the object.")
            }
        return InspectorReason(
            code: "not_readable", message: message,
            details: (failure.map { [Wording("It would have to satisfy \($0)")] } ?? []) + (rules?.needs ?? []))
    }

    static func ofProperty(_ property: String, _ obstacle: PropertyObstacle) -> InspectorReason {
        switch obstacle {
        case .notOnDevice:
            InspectorReason(
                code: "property_not_on_device",
                message: Wording("The device has the object, but its version of the app has no property '\(property)'.")
            )
        case .hidden:
            InspectorReason(
                code: "property_hidden",
                message: Wording("The device has the object, but the rules hide '\(property)' from its user."))
        }
    }

    // MARK: Delivery

    static func notOpen(_ state: ServerSession.State) -> InspectorReason {
        InspectorReason(
            code: "not_open",
            message: Wording(
                "The device is connected, but its session isn't open yet: it is "
                    + "\(name: state.rawValue, context: "state of a device")."))
    }

    /// Pages put the answers of all gateways together, and say it themselves.
    static func notConnected(_ gateway: String, lastSeen: String?) -> InspectorReason {
        InspectorReason(
            code: "not_connected_here",
            message: Wording(
                untranslated: "The device isn't connected to gateway \(gateway)"
                    + (lastSeen.map { ". It was last seen \($0), to the day." } ?? ", and no gateway has ever seen it.")
            ),
            details: [Wording(untranslated: "It may be connected to another gateway: ask that one.")])
    }

    static let noUser = InspectorReason(
        code: "no_user", message: Wording("There is no such user, or the account was deleted or is disabled."))

    /// The object is one that the device should have.
    static func delivery(_ report: SessionReport, newest: Tick) -> InspectorReason {
        if report.session.state == .reading {
            return InspectorReason(
                code: "reading",
                message: Wording("The object is in the batch that the gateway is reading for the device."),
                details: [Wording("\(report.spooledByteCount) bytes of the batch are waiting for the device.")])
        }
        if report.session.unappliedCount > 0 || report.spooledByteCount > 0 {
            return InspectorReason(
                code: "batch_waiting",
                message:
                    Wording(
                        "The object is for the device, which hasn't acknowledged the last "
                            + "\(report.session.unappliedCount) batches, up to tick \(report.session.sentTick)."),
                details: [
                    Wording(
                        "\(report.pendingByteCount + report.spooledByteCount) bytes are waiting for its connection.")
                ])
        }
        let behind = newest.number - report.reached.number
        guard behind <= 0 else {
            return InspectorReason(
                code: "behind",
                message: Wording(
                    "The object is for the device, which is at tick \(report.reached.number), \(behind) behind the "
                        + "newest."))
        }
        return InspectorReason(
            code: "delivered",
            message: Wording(
                "The device should have the object: the gateway sent it all its changes up to tick "
                    + "\(report.reached.number), and the device applied them."))
    }
}
