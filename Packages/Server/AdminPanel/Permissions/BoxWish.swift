import AdminService
import TomboloHTTP
import TomboloRules

/// Which box of the matrix a form or an address is about, and what it shall be.
struct BoxWish: Sendable {
    enum Box: Sendable {
        case role(PermissionMatrix.Box, classNames: [String])
        case users(PermissionMatrix.UserBox)
    }

    let box: Box
    let allowed: Bool
    let version: Int64
    /// Whether the box is like that already.
    let isSet: Bool

    private static let unclear = RequestFailure(.unprocessable, "The address doesn't say which box it's about.")

    /// - Throws: ``RequestFailure`` with status 422 for a box that the matrix doesn't have.
    init(_ field: (String) -> String?, _ grant: MatrixGrant) throws {
        guard let allowed = field("allowed").flatMap({ Bool($0) }),
            let version = field("version").flatMap({ Int64($0) })
        else { throw Self.unclear }
        self.allowed = allowed
        self.version = version
        let matrix = grant.matrix
        let missing = RequestFailure(.unprocessable, "The matrix of \(grant.app) has no such box.")
        if let permission = field("permission") {
            let box = PermissionMatrix.UserBox(permission: permission, group: field("group") ?? "")
            guard matrix.has(box) else { throw missing }
            self.box = .users(box)
            isSet = matrix.permits(box) == allowed
        } else {
            guard let role = field("role"), let service = field("service"), let operation = field("operation") else {
                throw Self.unclear
            }
            let box = PermissionMatrix.Box(role: role, service: service, operation: Operation(operation))
            guard matrix.has(box) else { throw missing }
            self.box = .role(box, classNames: matrix.services.first { $0.name == service }?.classNames ?? [])
            isSet = matrix.permits(box) == allowed
        }
    }

    /// What a notice says when it's done.
    var notice: String {
        let now = allowed ? "now." : "any more."
        switch box {
        case .role(let box, _):
            return "\(box.role) may \(allowed ? "" : "not ")\(box.operation) \(box.service) \(now)"
        case .users(let box):
            return allowed
                ? "\(box.group.capitalizedFirst) users have the permission \(box.permission) now."
                : "\(box.group.capitalizedFirst) users don't have the permission \(box.permission) any more."
        }
    }
}

extension String {
    var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
