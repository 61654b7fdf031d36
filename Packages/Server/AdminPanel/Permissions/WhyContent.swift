import TomboloHTTP
import TomboloLocalization
import TomboloModel
import TomboloRules

/// The values for the template `why`: a question, and the rules' answer.
struct WhyContent: Sendable {
    struct Option: Sendable {
        let value: String
        let label: String
        let isChosen: Bool
    }

    /// A box of the permission matrix that decides.
    struct Box: Sendable {
        let text: String
        let link: String
    }

    struct Permission: Sendable {
        let operation: String
        let verdict: String
        /// `yes`, `own` or `no`, for the style sheet.
        let kind: String
        /// Why it's permitted for the object, in words.
        let reason: String?
        /// For which objects it's permitted, in words.
        let filter: String
        /// The alternatives under which it's permitted for an object.
        let ways: [String]
        let hasWays: Bool
        /// The deciding condition, as written in the rules; nil if the words say everything.
        let rule: String?
        let needs: [String]
        let hasNeeds: Bool
        let hasRule: Bool
        let boxes: [Box]
    }

    struct Role: Sendable {
        let name: String
        let place: String
        let verdict: String
        let needs: [String]
        let hasNeeds: Bool
    }

    struct Answer: Sendable {
        let heading: String
        let summary: String
        let hasPermissions: Bool
        let permissions: [Permission]
        let hidden: String?
        let fixed: String?
        /// Permissions that the user has without a role.
        var userPermissions: [String] = []
        let roles: [Role]

        /// - Parameters:
        ///   - row: the object; the caller may read all of it.
        ///   - boxes: returns the boxes that decide against a permission.
        init(
            _ explanation: Explanation, _ words: ConditionWords, whose: String, object: String?, row: Row?,
            boxes: (Explanation.Permission) -> [Box]
        ) {
            let className = explanation.className
            if let object {
                heading = localized("What \(whose) may do with \(className) \(object)")
            } else {
                heading = localized("What \(whose) may do with objects of \(className)")
            }
            if !explanation.hasRules {
                summary = localized("\(className) has no rules, so nobody may do anything with it.")
            } else if let role = explanation.role {
                let name = localizedName(role.name)
                summary = localized(
                    "The role '\(name)' (\(role.place)) decides: it's the first in the rules that applies.")
            } else {
                summary = localized("No role in the rules applies, so they may do nothing.")
            }
            permissions = explanation.permissions.map { permission in
                let (verdict, kind) = Self.verdict(permission)
                let needs = permission.needs.map(\.localized)
                let ways = words.ways(permission.filter)
                let rule = ways.isEmpty ? nil : permission.filter.description
                return Permission(
                    operation: permission.operation.verb, verdict: verdict, kind: kind,
                    reason: permission.isPermitted == true
                        ? row.flatMap { words.reason(permission.filter, $0) } : nil,
                    filter: Self.words(permission.filter), ways: ways, hasWays: !ways.isEmpty, rule: rule,
                    needs: needs, hasNeeds: !needs.isEmpty, hasRule: rule != nil || !needs.isEmpty,
                    boxes: boxes(permission))
            }
            hasPermissions = !permissions.isEmpty
            hidden = explanation.hiddenProperties.isEmpty ? nil : explanation.hiddenProperties.joined(separator: ", ")
            fixed = explanation.fixedProperties.isEmpty ? nil : explanation.fixedProperties.joined(separator: ", ")
            roles = explanation.roles.map { role in
                Role(
                    name: localizedName(role.name), place: role.place, verdict: Self.verdict(role),
                    needs: role.needs.map(\.localized), hasNeeds: !role.needs.isEmpty)
            }
        }

        private static func words(_ filter: Predicate) -> String {
            switch filter {
            case .constant(true): localized("all")
            case .constant(false): localized("none: it depends on the user, not on the object")
            default: localized("those with")
            }
        }

        private static func verdict(_ role: Explanation.Role) -> String {
            if role.applies { return localized("applies") }
            return role.needs.isEmpty ? localized("not reached") : localized("doesn't apply; it would need")
        }

        /// The wording, and the class for the style sheet.
        private static func verdict(_ permission: Explanation.Permission) -> (String, String) {
            let (yes, no) = ((localized("yes"), "yes"), (localized("no"), "no"))
            if let isPermitted = permission.isPermitted { return isPermitted ? yes : no }
            switch permission.filter {
            case .constant(true): return yes
            case .constant(false): return no
            default: return (localized("some", context: "objects"), "own")
            }
        }
    }

    let user: String
    let object: String
    let roles: [Option]
    let classes: [Option]
    let gridLink: String?
    let routesLink: String?
    var problem: TrashGroupContent.Problem?
    var answer: Answer?
}
