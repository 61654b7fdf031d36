import TomboloRules

/// What the template `permission_box` shows before a box is changed.
struct PermissionBoxContent: Sendable {
    struct Field: Sendable {
        let name: String
        let value: String
    }

    let question: String
    let effect: String
    let button: String
    let back: String
    let action: String
    let fields: [Field]
    var problem: TrashGroupContent.Problem?

    init(_ wish: BoxWish, app: String, version: Int64) {
        let allowed = wish.allowed
        var fields: [(String, String)]
        switch wish.box {
        case .role(let box, let classNames):
            let (role, operation, service) = (box.role, box.operation.name, box.service)
            let classes = classNames.joined(separator: ", ")
            question =
                allowed ? "Let \(role) \(operation) \(service)?" : "Stop \(role) from \(operation.gerund) \(service)?"
            effect =
                allowed
                ? "Everybody with the role \(role) will be able to \(operation) objects of \(classes) where they have the "
                    + "role."
                : "Nobody will be able to \(operation) objects of \(classes) by the role \(role) any more."
                    + (box.operation == .read ? " Devices lose their copies of what they may no longer read." : "")
            fields = [("role", role), ("service", service), ("operation", operation)]
        case .users(let box):
            let (permission, group) = (box.permission, box.group)
            question = allowed ? "Give \(group) users \(permission)?" : "Take \(permission) from \(group) users?"
            effect =
                allowed
                ? "All \(group) users will have the permission \(permission). What it allows is defined in the rules."
                : "No \(group) user will have the permission \(permission) any more. What they have created with it stays."
            fields = [("permission", permission), ("group", group)]
        }
        fields += [("allowed", "\(allowed)"), ("version", "\(version)")]
        self.fields = fields.map { Field(name: $0, value: $1) }
        button = allowed ? "Allow" : "Withdraw"
        back = PermissionLinks(app).grid
        action = "/panel/permissions/box?app=\(PermissionLinks.escape(app))"
    }
}

extension String {
    /// `update` → `updating`.
    fileprivate var gerund: String { (hasSuffix("e") ? String(dropLast()) : self) + "ing" }
}
