import TomboloHTTP
import TomboloLocalization
import TomboloRules

/// The values for the template `permission_box`, shown before a box is changed.
struct PermissionBoxContent: Sendable {
    struct Field: Sendable {
        let name: String
        let value: String
    }

    /// A page of the panel to which the box gives access.
    struct Page: Sendable {
        let title: String
        /// Nil if the viewer may not open it.
        let path: String?
    }

    let question: String
    let effect: String
    let button: String
    let back: String
    let action: String
    let fields: [Field]
    var pages: [Page] = []
    var problem: TrashGroupContent.Problem?

    init(_ wish: BoxWish, app: String, version: Int64) {
        let allowed = wish.allowed
        var fields: [(String, String)]
        switch wish.box {
        case .role(let box, let classNames):
            question = Self.question(box, allowed: allowed)
            effect = Self.effect(box, classes: classNames.joined(separator: ", "), allowed: allowed)
            fields = [("role", box.role), ("service", box.service), ("operation", box.operation.name)]
        case .users(let box):
            let (permission, group) = (localizedName(box.permission), localizedName(box.group))
            question =
                allowed
                ? localized("Give \(group) users \(permission)?") : localized("Take \(permission) from \(group) users?")
            effect =
                allowed
                ? localized(
                    "All \(group) users will have the permission \(permission). What it allows is defined in the rules."
                )
                : localized(
                    "The permission \(permission) will be withdrawn from all \(group) users. What they have created "
                        + "with it stays.")
            fields = [("permission", box.permission), ("group", box.group)]
        }
        fields += [("allowed", "\(allowed)"), ("version", "\(version)")]
        self.fields = fields.map { Field(name: $0, value: $1) }
        button = allowed ? localized("Allow") : localized("Withdraw")
        back = PermissionLinks(app).grid
        action = "/panel/permissions/box?app=\(PermissionLinks.escape(app))"
    }

    private static func question(_ box: PermissionMatrix.Box, allowed: Bool) -> String {
        let (role, service) = (localizedName(box.role), ClassTitle.service(box.service))
        if allowed { return localized("Let \(role) \(box.operation.verb) \(service)?") }
        // The operations that a matrix has boxes for.
        return switch box.operation {
        case .create: localized("Stop \(role) from creating \(service)?")
        case .read: localized("Stop \(role) from reading \(service)?")
        case .update: localized("Stop \(role) from updating \(service)?")
        default: localized("Stop \(role) from deleting \(service)?")
        }
    }

    private static func effect(_ box: PermissionMatrix.Box, classes: String, allowed: Bool) -> String {
        let (role, verb) = (localizedName(box.role), box.operation.verb)
        // A service without classes.
        if classes.isEmpty {
            let service = ClassTitle.service(box.service)
            return allowed
                ? localized(
                    "Everybody with the role \(role) will be able to \(verb) \(service). What that gives access to is "
                        + "defined in the rules."
                )
                : localized("The role \(role) will no longer allow anybody to \(verb) \(service).")
        }
        if allowed {
            return localized(
                "Everybody with the role \(role) will be able to \(verb) objects of \(classes) where they have the role."
            )
        }
        let effect = localized("The role \(role) will no longer allow anybody to \(verb) objects of \(classes).")
        guard box.operation == .read else { return effect }
        return effect + " " + localized("Devices lose their copies of what they may no longer read.")
    }
}
