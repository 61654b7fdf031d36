import TomboloRules

/// What the template `permission_box` shows before a box is changed.
struct PermissionBoxContent: Sendable {
    let app: String
    let version: Int64
    let role: String
    let service: String
    let operation: String
    let allowed: Bool
    let question: String
    let effect: String
    let button: String
    let back: String
    let action: String
    var problem: TrashGroupContent.Problem?

    init(_ box: PermissionMatrix.Box, allowed: Bool, app: String, version: Int64, classNames: [String]) {
        self.app = app
        self.version = version
        role = box.role
        service = box.service
        operation = box.operation.name
        self.allowed = allowed
        let classes = classNames.joined(separator: ", ")
        question =
            allowed ? "Let \(role) \(operation) \(service)?" : "Stop \(role) from \(operation.gerund) \(service)?"
        effect =
            allowed
            ? "Everybody with the role \(role) will be able to \(operation) objects of \(classes) where they have the role."
            : "Nobody will be able to \(operation) objects of \(classes) by the role \(role) any more. What devices have "
                + "of them and may no longer read is taken away."
        button = allowed ? "Permit it" : "Take it away"
        back = PermissionLinks(app).grid
        action = "/panel/permissions/box?app=\(PermissionLinks.escape(app))"
    }
}

extension String {
    /// `update` → `updating`.
    fileprivate var gerund: String { (hasSuffix("e") ? String(dropLast()) : self) + "ing" }
}
