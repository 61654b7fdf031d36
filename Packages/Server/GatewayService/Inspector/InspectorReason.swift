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
                    code: "in_trash", message: Wording("The object is in the trash, so that no device has it."),
                    details: [Wording("Restore it with POST /admin/trash/ID/restore of the admin server.")])
            ]
        }
        guard found.row == nil else { return [] }
        return [
            InspectorReason(
                code: "no_object",
                message: Wording("There is no \(question.className) with this id, or none that you may inspect."),
                details: [Wording("A device may have written it without having uploaded it yet.")])
        ]
    }

    static func notInTick(_ tick: Tick) -> InspectorReason {
        InspectorReason(
            code: "not_in_tick",
            message: Wording(
                "The object was written after tick \(tick.number), the newest: devices get it with the next."),
            details: [Wording("If this stays so, no sequencer is at work: look at tombolo_sequencer_elected.")])
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
                            "The device has asked for it meanwhile: its new subscriptions wait for the batch under way."
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
                code: "not_subscribed", message: Wording("No subscription of the device is about \(item.name)."))
        case .notMatched(let misses):
            return InspectorReason(
                code: "no_subscription_matches",
                message: Wording(
                    "None of the device's subscriptions about \(item.name) matches the object (\(misses.count))."),
                details: misses.prefix(Inspector.maximumSubscriptionCount).map { miss in
                    let failure = view.text(miss.failure, unsatisfiedBy: row, of: item, in: schema)
                    guard let name = miss.name?.shortened(toByteCount: 100) else {
                        return Wording("The subscription without a name asks for \(failure)")
                    }
                    return Wording("The subscription '\(name)' asks for \(failure)")
                })
        case .classWithoutPartition:
            return InspectorReason(
                code: "class_without_partition",
                message: Wording(
                    "The session is in a partition, and \(item.name) has no partition property."))
        case .otherPartition(let column, let partition):
            let shown = view.shows(PropertyPath(column), of: item.name) && view.mayRead(row, of: item.name, in: schema)
            let value = item.columnIndex(column).map { "\(row[$0])" } ?? "nil"
            return InspectorReason(
                code: "other_partition",
                message: Wording("The object is in another partition than the session, which is in \(partition)."),
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
        code: "no_user", message: Wording("There is no such user, or their account is gone or disabled."))

    /// The object is one that the device should have.
    static func delivery(_ report: SessionReport, newest: Tick) -> InspectorReason {
        if report.session.state == .reading {
            return InspectorReason(
                code: "reading",
                message: Wording("It is for the device, and is in the batch that is being read for it."),
                details: [Wording("\(report.spooledByteCount) bytes of the batch wait for the device.")])
        }
        if report.session.unappliedCount > 0 || report.spooledByteCount > 0 {
            return InspectorReason(
                code: "batch_waiting",
                message:
                    Wording(
                        "It is for the device, which has been sent \(report.session.unappliedCount) batches, up to tick "
                            + "\(report.session.sentTick), that it hasn't said to have applied."),
                details: [
                    Wording("\(report.pendingByteCount + report.spooledByteCount) bytes wait for its connection.")
                ])
        }
        let behind = newest.number - report.reached.number
        guard behind <= 0 else {
            return InspectorReason(
                code: "behind",
                message: Wording(
                    "It is for the device, which stands on tick \(report.reached.number), \(behind) behind."))
        }
        return InspectorReason(
            code: "delivered",
            message: Wording(
                "The gateway believes that the device has it: it was sent all that concerns it up to tick "
                    + "\(report.reached.number), and applied it."))
    }
}
