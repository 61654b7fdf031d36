import TomboloHTTP
import TomboloModel
import TomboloRules
import TomboloLocalization

/// The order in the body of a bulk request:
///
///     {"action": "update", "all": true, "data": {"attributes": {"isPublic": true}},
///      "expect": {"count": 48213, "version": "…"}}
struct BulkOrder: Sendable {
    private static let known: Set<String> = ["action", "ids", "all", "data", "reason", "expect", "dryRun"]

    let action: BulkAction
    /// Nil for all resources that match the filters in the address.
    let keys: [Value]?
    let data: JSON?
    /// The reason for moving the resources to the trash.
    let reason: TrashReason?
    /// What a dry run found. Nothing else may be touched.
    let expectedCount: Int64?
    let expectedVersion: String?
    let isDryRun: Bool

    /// - Throws: ``RequestFailure`` for a body that isn't an order, or for an order that the rules permit on no
    ///   resource.
    init(_ body: JSON, of type: ResourceType, for view: CallerView) throws {
        guard case .object(let members) = body else {
            throw Self.failure("", "The body isn't a JSON object.", "Send {\"action\": …, \"ids\": […]}.")
        }
        if let stranger = members.keys.filter({ !Self.known.contains($0) }).min() {
            throw Self.failure(
                stranger, "'\(stranger.shortened(toByteCount: 60))' isn't supported here.",
                ResourceQuery.nearest(stranger, Self.known.sorted()).localized)
        }
        action = try Self.action(members["action"], type)
        isDryRun = try Self.flag(members["dryRun"], "dryRun")
        keys = try Self.keys(members, type)
        data = members["data"]
        reason = try TrashReason(members["reason"], at: .pointer("/reason"))
        (expectedCount, expectedVersion) = try Self.expectation(members["expect"])
        guard (data != nil) == (action == .update) else {
            throw Self.failure(
                "data", action == .update ? "There is nothing to change." : "'\(action.rawValue)' takes no data.",
                action == .update
                    ? "Send \"data\": {\"attributes\": {…}} or \"relationships\"." : "Leave 'data' out.")
        }
        guard reason == nil || action == .trash else {
            throw Self.failure("reason", "'\(action.rawValue)' takes no reason.", "Leave 'reason' out.")
        }
        if keys == nil, !isDryRun, expectedCount == nil {
            throw RequestFailure(
                .preconditionRequired, "The request doesn't say how many resources it expects.",
                hint: "Send \"dryRun\": true first, show what it finds, and send its \"count\" and \"version\" back in "
                    + "\"expect\".",
                source: .pointer("/expect"))
        }
        if let denial = view.refusal(Self.operation(action), type) { throw RequestFailure(denial) }
    }

    private static func operation(_ action: BulkAction) -> TomboloRules.Operation {
        switch action {
        case .update: .update
        case .trash: .trash
        case .delete: .delete
        case .restore: .restore
        }
    }

    private static func failure(_ name: String, _ message: String, _ hint: String) -> RequestFailure {
        let place = name.isEmpty ? RequestPointer() : RequestPointer() / name
        return RequestFailure(.badRequest, message, hint: hint, source: .pointer(place.description))
    }

    private static func action(_ json: JSON?, _ type: ResourceType) throws -> BulkAction {
        let possible: [BulkAction] = type.item.isTrashable ? [.update, .trash, .restore] : [.update, .delete]
        guard case .string(let name)? = json, let action = BulkAction(rawValue: name), possible.contains(action) else {
            let names = possible.map { "'\($0.rawValue)'" }.joined(separator: ", ")
            throw failure(
                "action", "'action' isn't an action that \(type.name) support.", "Send one of \(names).")
        }
        return action
    }

    private static func flag(_ json: JSON?, _ name: String) throws -> Bool {
        switch json {
        case nil: return false
        case .bool(let flag)?: return flag
        default: throw failure(name, "'\(name)' must be true or false.", "Send true, or leave it out.")
        }
    }

    private static func keys(_ members: [String: JSON], _ type: ResourceType) throws -> [Value]? {
        let isAll = try flag(members["all"], "all")
        guard let ids = members["ids"] else {
            guard isAll else {
                throw failure(
                    "ids", "The request doesn't say which resources it's for.",
                    "Send \"ids\": […], or \"all\": true for all resources that match the filters in the address.")
            }
            return nil
        }
        guard !isAll else { throw failure("all", "'all' and 'ids' can't be combined.", "Send one of the two.") }
        guard case .array(let items) = ids, !items.isEmpty, items.count <= BulkSelection.idLimit else {
            throw failure(
                "ids", "'ids' isn't a list of 1 to \(BulkSelection.idLimit) ids.",
                "Send fewer at once, or \"all\": true with filters.")
        }
        var seen: Set<Value> = []
        var keys: [Value] = []
        for (index, item) in items.enumerated() {
            guard case .string(let id) = item, let key = type.keyValue(id) else {
                throw RequestFailure(
                    .badRequest, "The element isn't \(ValueText.expected(type.keyType)).",
                    hint: "Send ids as JSON strings.", source: .pointer("/ids/\(index)"))
            }
            if seen.insert(key).inserted { keys.append(key) }
        }
        return keys
    }

    private static func expectation(_ json: JSON?) throws -> (Int64?, String?) {
        guard let json else { return (nil, nil) }
        guard case .int(let count)? = json["count"] else {
            throw failure(
                "expect", "'expect' has no count.", "Send the \"count\" and \"version\" from the dry run.")
        }
        switch json["version"] {
        case nil: return (count, nil)
        case .string(let version)?: return (count, version)
        default: throw failure("expect", "'version' isn't a string.", "Send the \"version\" from the dry run.")
        }
    }

    /// - Throws: ``RequestFailure`` with status 409 if the resources aren't the ones that the sender saw.
    func check(_ size: BulkSelection.Size) throws {
        if let keys {
            let missing = Int64(keys.count) - size.count
            guard missing == 0 else {
                throw RequestFailure(
                    .conflict,
                    localized("\(missing) of the \(keys.count) resources don't exist, or you can't see them."),
                    hint: action.isAboutTrash
                        ? localized("Leave them out. They may be restored by now.")
                        : localized("Leave them out. They may be in the trash by now."),
                    source: .pointer("/ids"))
            }
        }
        guard let expectedCount else { return }
        guard size.count <= expectedCount, expectedVersion == nil || expectedVersion == size.version else {
            var failure = RequestFailure(
                .conflict,
                size.count == expectedCount
                    ? localized("The resources that match aren't the ones that the dry run found.")
                    : localized("\(size.count) resources match, but the dry run found \(expectedCount)."),
                hint: localized("Nothing was changed. Do another dry run before you go on."),
                source: .pointer("/expect"))
            failure.details = ["count": .int(size.count), "version": .string(size.version)]
            throw failure
        }
    }
}
