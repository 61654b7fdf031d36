package import TomboloAuthentication
package import TomboloHTTP
package import TomboloModel
package import TomboloRules
package import TomboloServerModel
import TomboloLocalization

/// Who a viewer sees the server as: another user, or somebody who has one role and no other.
///
/// It's read-only. It shows nobody what they couldn't see as themselves: it takes the operation `inspect` on objects
/// of some class, and the viewer must see at least as much as the person they view the server as; see
/// ``refusal(of:looking:_:)``.
package enum ViewAs: Hashable, Sendable {
    case user(ObjectId)
    /// A role of an app's permission matrix, within one object such as an event, or everywhere.
    case role(String, app: String, scope: ObjectId?)

    // MARK: Text

    /// Parses what ``text`` returned; nil for anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        switch (parts.first, parts.count) {
        case ("user", 2):
            guard let id = try? ObjectId(string: parts[1]) else { return nil }
            self = .user(id)
        case ("role", 4):
            let scope = parts[3].isEmpty ? nil : try? ObjectId(string: parts[3])
            guard !parts[1].isEmpty, parts[3].isEmpty || scope != nil else { return nil }
            self = .role(parts[1], app: parts[2], scope: scope)
        default: return nil
        }
    }

    /// For a sealed cookie.
    package var text: String {
        switch self {
        case .user(let id): "user\n\(id)"
        case .role(let name, let app, let scope): "role\n\(name)\n\(app)\n\(scope?.stringValue ?? "")"
        }
    }

    // MARK: Whom

    /// The subject to view the server as.
    /// - Throws: ``RequestFailure`` with status 422 if there's no such account or role.
    package func subject(_ model: ServerModel, _ authenticator: Authenticator) async throws -> Subject {
        switch self {
        case .user(let id):
            do {
                return try await authenticator.subject(of: id)
            } catch AuthenticationError.unknownUser {
                throw RequestFailure(
                    .unprocessable, localized("There is no account with this id that may log in."),
                    hint: localized("A disabled account sees nothing."))
            }
        case .role(let name, let app, let scope):
            guard let matrix = model.matrices[app], (matrix.roles + matrix.everywhereRoles).contains(name) else {
                throw RequestFailure(
                    .unprocessable,
                    localized("The app '\(app)' has no role '\(name.shortened(toByteCount: 100))' in its matrix."))
            }
            guard let scope, matrix.roles.contains(name) else { return model.example(of: name, inMatrixOf: app) }
            return Subject(user: ObjectId(), grants: [RoleGrant(Role(name), in: scope)])
        }
    }

    /// Why the viewer may not view the server like this; nil if they may.
    package static func refusal(
        of viewer: Subject, looking target: Subject, _ model: ServerModel
    ) -> RequestFailure? {
        let rules = model.rules
        guard mayInspect(viewer, model) else { return notPermitted }
        let (own, theirs) = (rules.hiddenColumns(viewer), rules.hiddenColumns(target))
        let (ownSight, theirSight) = (rules.readable(viewer), rules.readable(target))
        for index in roots(rules) {
            let name = rules.schema[index].name
            for operation in [TomboloRules.Operation.read, .listTrash, .audit, .inspect] {
                let wanted = filter(target, operation, index, rules)
                if wanted == .constant(false) { continue }
                let permitted = filter(viewer, operation, index, rules)
                guard permitted == .constant(true) || permitted == wanted else {
                    return above(
                        localized("Not permitted: they may \(operation.verb) objects of \(name) that you may not."))
                }
                guard (own[index] ?? []).isSubset(of: theirs[index] ?? []) else {
                    return above(localized("Not permitted: they may read properties of \(name) that you may not."))
                }
            }
            // A list may be hidden, like a column.
            let lists = rules.schema.elementClassIndexes(of: index)
            if lists.contains(where: { theirSight($0) != .constant(false) && ownSight($0) == .constant(false) }) {
                return above(localized("Not permitted: they may read properties of \(name) that you may not."))
            }
        }
        for app in model.matrices.keys.sorted() {
            func exceeds(_ operation: TomboloRules.Operation) -> Bool {
                model.refusal(target, operation, ofMatrixOf: app) == nil
                    && model.refusal(viewer, operation, ofMatrixOf: app) != nil
            }
            if exceeds(.read) {
                return above(
                    localized("Not permitted: they may see the permission matrix of \(app), but you may not."))
            }
            // The right to change opens further pages, such as the server's settings.
            if exceeds(.update) {
                return above(
                    localized("Not permitted: they may change the permission matrix of \(app), but you may not."))
            }
        }
        if AccountsGrant.isPermitted(target, .listAccounts, model),
            !AccountsGrant.isPermitted(viewer, .listAccounts, model)
        {
            return above(localized("Not permitted: they may see accounts, but you may not."))
        }
        return nil
    }

    /// Whether the viewer may view the server as anybody at all.
    package static func mayInspect(_ viewer: Subject, _ model: ServerModel) -> Bool {
        let rules = model.rules
        return roots(rules).contains { rules.refusal(viewer, .inspect, ofClassAt: $0) == nil }
    }

    package static var notPermitted: RequestFailure {
        RequestFailure(
            .forbidden, localized("Not permitted: no role lets you inspect what others see."),
            hint: localized("The rules permit it with operations: {inspect: true}; see docs/rules.md."))
    }

    /// The classes that have their own rules.
    private static func roots(_ rules: Rules) -> [Int] {
        rules.schema.classes.indices.filter { rules.schema[$0].owner == nil && !rules.schema[$0].isEmbedded }
    }

    private static func filter(
        _ subject: Subject, _ operation: TomboloRules.Operation, _ index: Int, _ rules: Rules
    ) -> Predicate {
        (try? rules.authorize(subject, operation, .objects(classIndex: index)).get()) ?? .constant(false)
    }

    private static func above(_ message: String) -> RequestFailure {
        RequestFailure(
            .forbidden, message, hint: localized("You can't view as somebody who may see more than you."))
    }
}
